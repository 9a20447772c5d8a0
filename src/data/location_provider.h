#pragma once

/// \file data/location_provider.h
/// Where new data files of a table go.
///
/// Java twins: LocationProviders, OutputFileFactory.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/location.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

/// Obeys write.data.path, write.object-storage.enabled, write.object-storage.path,
/// write.folder-storage.path and write.object-storage.partitioned-paths. A class named by
/// write.location-provider.impl cannot be run here: has_foreign_provider() tells. Immutable.
class LocationProvider {
 public:
  explicit LocationProvider(const TableMetadata& metadata);

  /// `partition_path` as PartitionSpec::PathOf gives it; empty if unpartitioned.
  Location NewDataLocation(std::string_view partition_path, std::string_view file_name) const;

  bool has_foreign_provider() const { return foreign_provider_; }

 private:
  std::string storage_;  // without a trailing slash
  std::string context_;  // object storage outside the table's folder: "database/table"
  bool object_storage_ = false;
  bool partitioned_paths_ = true;
  bool foreign_provider_ = false;
};

/// Names of one operation's files: `%05d-%d-<operationId>-%05d.<ext>`. Thread-safe.
class FileNames {
 public:
  FileNames(std::string operation_id, FileFormat format);

  /// Unique over all calls: the last number counts them. `partition_id`, `task_id`: the numbers at
  /// the front.
  std::string Next(int partition_id, std::int64_t task_id);

 private:
  const std::string operation_id_;
  const std::string extension_;
  std::atomic<int> count_{0};
};

}  // namespace icewright
