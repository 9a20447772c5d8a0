#pragma once

/// \file maintain/orphan_test_table.h
/// A table with orphans in its folder, and a naive walker that tells them. For tests only.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "maintain/delete_orphan_files.h"
#include "maintain/expire_test_table.h"

namespace icewright {

inline constexpr std::int64_t kTenDaysMs = 10 * kDayMs;

class OrphanTestTable : public ExpireTestTable {
 public:
  using ExpireTestTable::ExpireTestTable;

  static constexpr std::string_view kFolder = "memory:/w/db/t/";
  static Location At(const std::string& relative) {
    return Location(std::string(kFolder) + relative);
  }

  /// Makes all that is there as old as orphans are.
  void Age() { clock().Advance(Milliseconds(kTenDaysMs)); }

  /// A file that was changed so long ago.
  void Plant(const std::string& relative, std::int64_t age_ms = kTenDaysMs) {
    PlantAt(At(relative), age_ms);
  }
  void PlantAt(const Location& location, std::int64_t age_ms = kTenDaysMs) {
    const TimePoint now = clock().Now();
    clock().Set(now - Milliseconds(age_ms));
    MakeFile(location);
    clock().Set(now);
  }

  Status Clean(const DeleteOrphanFilesOptions& options = {}, FileListing listing = {}) {
    Table table = Load();
    return CleanLoaded(table, options, std::move(listing));
  }
  Status CleanLoaded(Table& table, const DeleteOrphanFilesOptions& options = {},
                     FileListing listing = {}) {
    report = {};
    return DeleteOrphanFiles(options, std::move(listing)).Execute(run(), table, report);
  }

  /// Every file below the table's folder, metadata files too, with its time of change.
  std::map<std::string, TimePoint> Listing() {
    std::map<std::string, TimePoint> files;
    EXPECT_THAT(io().List(Location("memory:/w/db/t"),
                          [&](const FileStatus& file) -> Status {
                            files.emplace(file.location.text().substr(kFolder.size()),
                                          file.modified);
                            return {};
                          }),
                IsOk());
    return files;
  }
  Paths All() {
    Paths all;
    for (const auto& [file, modified] : Listing()) all.insert(file);
    return all;
  }

  // ---- The oracle

  /// Everything that the table names, below its folder.
  Paths Named() {
    Paths named = Reachable();
    const Table table = Load();
    const auto add = [&](const Location& location) {
      named.insert(location.text().substr(kFolder.size()));
    };
    add(table.metadata_location());
    for (const MetadataLogEntry& entry : table.metadata().metadata_log) add(entry.metadata_file);
    named.insert("metadata/version-hint.text");
    return named;
  }

  /// What must go: there, not named, not hidden, changed before now - min_age.
  Paths Orphans(std::int64_t min_age_ms = 3 * kDayMs) {
    const Paths named = Named();
    Paths orphans;
    for (const auto& [file, modified] : Listing()) {
      const std::string parts = "/" + file;
      const bool hidden =
          parts.find("/_") != std::string::npos || parts.find("/.") != std::string::npos;
      if (hidden || named.contains(file)) continue;
      if (modified < clock().Now() - Milliseconds(min_age_ms)) orphans.insert(file);
    }
    return orphans;
  }

  /// Named files that are gone. No table must have a version hint.
  Paths Lost() {
    Paths lost = Named();
    lost.erase("metadata/version-hint.text");
    for (const std::string& file : All()) lost.erase(file);
    return lost;
  }
};

}  // namespace icewright
