#pragma once

/// \file icewright/actions.h
/// Maintenance on demand, for programs.
///
///   RunContext run;
///   IW_ASSIGN(Table table, TableLoader::FromHadoopTable("/warehouse/db/events").Load(run));
///   IW_ASSIGN(TaskReport report,
///             Actions::ForTable(table).RewriteDataFiles().Filter("day =
///             '2024-03-09'").Execute(run));
///
/// Java twin: flink/actions/Actions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "config/fields.h"
#include "maintain/delete_orphan_files_options.h"
#include "maintain/orphan_listing.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_data_files_options.h"
#include "maintain/rewrite_manifests.h"
#include "maintain/rewrite_position_deletes.h"
#include "maintain/task.h"

namespace icewright {

/// Collects options; Execute checks them. Defaults are those of Java's batch action where they
/// differ from the task's: the target is the smaller of read.split.target-size and
/// write.target-file-size-bytes, and use-starting-sequence-number is false.
class RewriteDataFilesAction {
 public:
  explicit RewriteDataFilesAction(Table table);

  RewriteDataFilesAction& Filter(std::string filter);
  RewriteDataFilesAction& CaseSensitive(bool case_sensitive);
  RewriteDataFilesAction& OutputSpecId(int spec_id);
  RewriteDataFilesAction& TargetSizeInBytes(std::int64_t bytes);
  RewriteDataFilesAction& UseStartingSequenceNumber(bool use);

  /// Any option of the task, spelled as on the command line. A bad one is reported by Execute.
  RewriteDataFilesAction& Option(std::string_view key, std::string_view value);

  /// Errors: those of RewriteDataFiles::Execute.
  Result<TaskReport> Execute(RunContext& run);

 private:
  Table table_;
  RewriteDataFilesOptions options_;
  Status bad_option_;
};

/// Collects options; Execute checks them. A file list of the program's own (an inventory of the
/// store, say) takes the place of the listing.
class DeleteOrphanFilesAction {
 public:
  explicit DeleteOrphanFilesAction(Table table) : table_(std::move(table)) {}

  DeleteOrphanFilesAction& Location(std::string location);
  DeleteOrphanFilesAction& MinAge(Milliseconds age);
  DeleteOrphanFilesAction& UsePrefixListing(bool use);
  DeleteOrphanFilesAction& PrefixMismatchMode(std::string mode);
  DeleteOrphanFilesAction& CompareToFileList(FileListing files);
  DeleteOrphanFilesAction& DryRun(bool dry_run);

  /// Any option of the task, spelled as on the command line. A bad one is reported by Execute.
  DeleteOrphanFilesAction& Option(std::string_view key, std::string_view value);

  /// Errors: those of DeleteOrphanFiles::Execute.
  Result<TaskReport> Execute(RunContext& run);

 private:
  Table table_;
  DeleteOrphanFilesOptions options_;
  FileListing files_;
  Status bad_option_;
};

/// An action of a task whose defaults are those of its command: collects options, Execute checks
/// them.
template <typename Task, typename Options>
class TaskAction {
 public:
  TaskAction(Table table, std::span<const OptionField<Options>> fields)
      : table_(std::move(table)), fields_(fields) {}

  /// Any option of the task, spelled as on the command line. A bad one is reported by Execute.
  TaskAction& Option(std::string_view key, std::string_view value) {
    Status set = SetField(fields_, key, value, options_);
    if (!set && bad_option_) bad_option_ = set;
    return *this;
  }

  /// Errors: those of the task's Execute.
  Result<TaskReport> Execute(RunContext& run) {
    IW_TRY(bad_option_);
    TaskReport report;
    IW_TRY(Task(options_).Execute(run, table_, report));
    return report;
  }

 private:
  Table table_;
  std::span<const OptionField<Options>> fields_;
  Options options_;
  Status bad_option_;
};

using RewriteManifestsAction = TaskAction<RewriteManifests, RewriteManifestsOptions>;
using RewritePositionDeletesAction =
    TaskAction<RewritePositionDeletes, RewritePositionDeletesOptions>;
using RemoveDanglingDeletesAction = TaskAction<RemoveDanglingDeletes, RemoveDanglingDeletesOptions>;

/// Immutable.
class Actions {
 public:
  static Actions ForTable(Table table) { return Actions(std::move(table)); }

  RewriteDataFilesAction RewriteDataFiles() const { return RewriteDataFilesAction(table_); }
  DeleteOrphanFilesAction DeleteOrphanFiles() const { return DeleteOrphanFilesAction(table_); }
  RewriteManifestsAction RewriteManifests() const { return {table_, RewriteManifestsFields()}; }
  RewritePositionDeletesAction RewritePositionDeletes() const {
    return {table_, RewritePositionDeletesFields()};
  }
  RemoveDanglingDeletesAction RemoveDanglingDeletes() const {
    return {table_, RemoveDanglingDeletesFields()};
  }

 private:
  explicit Actions(Table table) : table_(std::move(table)) {}
  Table table_;
};

}  // namespace icewright
