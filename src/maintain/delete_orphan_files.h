#pragma once

/// \file maintain/delete_orphan_files.h
/// Orphan clean-up: files in a table's folder that nothing in the table names, and that are old
/// enough, go.
///
/// Contract: docs/tasks/delete-orphan-files.md.   Java twins: Flink's DeleteOrphanFiles, Spark's
/// DeleteOrphanFilesSparkAction.

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "maintain/delete_orphan_files_options.h"
#include "maintain/orphan_listing.h"
#include "maintain/task.h"

namespace icewright {

class DeleteOrphanFiles final : public MaintenanceTask {
 public:
  /// `listing`: shows the files to look at; unset: the options say.
  explicit DeleteOrphanFiles(DeleteOrphanFilesOptions options = {}, FileListing listing = {})
      : options_(std::move(options)), listing_(std::move(listing)) {}

  std::string_view name() const override { return "delete-orphan-files"; }

  /// Lists, reads everything the table names, compares; only if all of that has succeeded deletes,
  /// and looks at the table again before each round of batches. Once deleting has begun nothing is
  /// an error: a stop leaves the rest to the next run, files that cannot be deleted are leftovers,
  /// and the outcome is kPartial.
  /// Errors: kInvalidArgument (options, prefixes that differ, a folder shared with another table),
  /// kUnsupported (gc.enabled is false, encryption, a read-only table), kCorrupt, kNotFound (a file
  /// that the table needs is missing), kCancelled, kLockLost, kExhausted, kIo. After an error
  /// nothing was deleted.
  /// Cost: one listing; reads every manifest list and every manifest once. Memory: 96 MiB and what
  /// manifests need, however many files there are; the rest is on the local disk.
  Status Execute(RunContext& run, Table& table, TaskReport& report) const override;

 private:
  DeleteOrphanFilesOptions options_;
  FileListing listing_;
};

}  // namespace icewright
