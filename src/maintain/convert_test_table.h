#pragma once

/// \file maintain/convert_test_table.h
/// A table with upserts to convert. For tests only.

#include <map>
#include <string>
#include <vector>

#include "maintain/convert_equality_deletes.h"
#include "maintain/rewrite_test_table.h"

namespace icewright {

class ConvertTestTable : public RewriteTestTable {
 public:
  explicit ConvertTestTable(HistoryTestOptions options = {}) : RewriteTestTable(V3(options)) {}

  /// Deletes ids and adds rows in one snapshot, as an upsert writer does. Either may be empty.
  SnapshotId Upsert(const std::vector<int>& deleted, const std::vector<int>& added,
                    const std::string& branch = "main") {
    SnapshotUpdate update{.operation = added.empty() ? "delete" : "overwrite", .branch = branch};
    if (!deleted.empty()) update.added_delete_files.push_back({DeleteIds(NewName("e"), deleted)});
    if (!added.empty()) update.added_data_files.push_back({Rows(NewName("f"), added)});
    return Commit(update);
  }

  Status Convert(ConvertEqualityDeletesOptions options = {}) {
    Table table = Load();
    return ConvertLoaded(table, std::move(options));
  }
  Status ConvertLoaded(Table& table, ConvertEqualityDeletesOptions options = {}) {
    report = {};
    if (options.equality_field_columns.empty()) options.equality_field_columns = "id";
    return ConvertEqualityDeletes(std::move(options)).Execute(run(), table, report);
  }
  /// In place, with another budget and other threads.
  Status ConvertIn(RunContext& other) {
    Table table = Load();
    report = {};
    return ConvertEqualityDeletes({.equality_field_columns = "id"}).Execute(other, table, report);
  }
  Status Promote(ConvertEqualityDeletesOptions options = {}) {
    options.staging_branch = "staging";
    return Convert(std::move(options));
  }

  /// Deleted rows by the name of their data file; the test fails if a file has two vectors.
  std::map<std::string, std::int64_t> Vectors() {
    std::map<std::string, std::int64_t> out;
    for (const DataFile& file : Live()) {
      if (!file.is_deletion_vector()) continue;
      const std::string name(ReferencedDataFile(file)->file_name());
      EXPECT_TRUE(out.emplace(name, file.record_count).second) << "two vectors for " << name;
    }
    return out;
  }
  int EqualityDeleteFiles() {
    int count = 0;
    for (const DataFile& file : Live()) count += file.content == FileContent::kEqualityDeletes;
    return count;
  }

  /// Ids of the live rows, sorted.
  std::vector<int> Ids(const std::string& branch = "main") {
    std::vector<int> ids;
    if (Load().metadata().FindRef(branch) == nullptr) return ids;
    for (const std::string& row : LiveRows(branch)) ids.push_back(std::stoi(row.substr(1)));
    std::ranges::sort(ids);
    return ids;
  }
  std::string Operation() {
    const Table table = Load();
    return table.metadata().FindRef("main")->operation.value_or("");
  }
  std::string Marker() {
    const Table table = Load();
    const std::string* marker =
        FindKey(table.metadata().FindRef("main")->summary, "equality-convert-staging-snapshot");
    return marker == nullptr ? "" : *marker;
  }

  std::string NewName(const std::string& prefix) { return prefix + std::to_string(++names_); }

 private:
  static HistoryTestOptions V3(HistoryTestOptions options) {
    options.format_version = 3;
    return options;
  }
  int names_ = 0;
};

}  // namespace icewright
