#pragma once

/// \file catalog/filesystem/filesystem_operations.h
/// One table whose current version is the highest vN.metadata.json in its folder.
///
/// Java twin: HadoopTableOperations.

#include <memory>
#include <mutex>
#include <string>

#include "catalog/metadata_files.h"
#include "catalog/table.h"
#include "io/file_io.h"

namespace icewright {

/// A commit creates v(N+1).metadata.json atomically, or loses to whoever did so first. Java's own
/// local rename replaces silently: let only one of Java and icewright write at a time.
class FilesystemOperations final : public TableOperations {
 public:
  /// `location`: the table's folder. `name` is for messages.
  FilesystemOperations(std::string name, Location location, std::shared_ptr<FileIO> io)
      : name_(std::move(name)), location_(std::move(location)), io_(std::move(io)) {}

  Result<TableState> Load(RunContext& run) override;

  /// Also kUnsupported: the metadata says that the table lives elsewhere, i.e. this is a copy.
  Result<TableState> Commit(RunContext& run, const TableState& base,
                            std::span<const TableRequirement> requirements,
                            std::span<const TableUpdate> updates) override;

  /// Of the version loaded last: a copy of a table is read-only.
  std::string read_only_reason() const override;

  /// Writes version 1. Errors: kAlreadyExists.
  Result<TableState> Create(RunContext& run, TableMetadata metadata);

 private:
  // Metadata locations are spelled as the table's own metadata spells its location, if that is the
  // same folder: listings and references of one table must agree letter for letter.
  Location MetadataFolder(const TableMetadata& metadata) const;
  Result<TableState> LoadCurrent(RunContext& run);
  Result<Location> WriteVersion(RunContext& run, const TableMetadata& metadata, int version);
  Status CheckNoOtherName(const Location& folder, int version, const Location& ours);
  void WriteHint(RunContext& run, const Location& folder, int version);

  std::string name_;
  Location location_;
  std::shared_ptr<FileIO> io_;
  mutable std::mutex mutex_;
  std::string copy_of_;  // guarded by mutex_: where the table says it lives, if that is elsewhere
};

/// "file:/t", "file:///t" and "/t/" are one folder; so are s3://b/t and s3a://b/t.
bool IsSameFolder(const Location& a, const Location& b);

}  // namespace icewright
