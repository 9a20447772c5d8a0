#include "config/fields.h"
#include "icewright/command.h"
#include "icewright/table_lock.h"
#include "icewright/task_options.h"
#include "icewright/task_report.h"
#include "maintain/compute_partition_stats.h"
#include "maintain/compute_table_stats.h"
#include "maintain/convert_equality_deletes.h"
#include "maintain/delete_orphan_files.h"
#include "maintain/expire_snapshots.h"
#include "maintain/maintain_table.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_data_files.h"
#include "maintain/rewrite_manifests.h"
#include "maintain/rewrite_position_deletes.h"

namespace icewright::cli {
namespace {

/// Any task whose options are rows.
template <typename Task, typename Options>
class TaskCommand final : public Command {
 public:
  TaskCommand(std::string help, std::span<const OptionField<Options>> fields)
      : help_(std::move(help)), fields_(fields) {}

  std::string name() const override { return std::string(Task().name()); }
  std::string help() const override { return help_; }

  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    lock_.Define(app, true);
    DefineOptions(app, fields_, options_, bad_value_);
  }

  Result<ExitCode> Execute(Session& session) override {
    if (bad_value_) return *bad_value_;
    return RunTask(session, Task(options_), table_, options_.dry_run ? nullptr : &lock_);
  }

 private:
  std::string help_;
  std::span<const OptionField<Options>> fields_;
  std::string table_;
  LockFlags lock_;
  Options options_;
  std::optional<Error> bad_value_;
};

}  // namespace

void AddTaskCommands(Commands& commands) {
  commands.push_back(std::make_unique<TaskCommand<RewriteDataFiles, RewriteDataFilesOptions>>(
      "Compact small data files and apply deletes", RewriteDataFilesFields()));
  commands.push_back(std::make_unique<TaskCommand<ExpireSnapshots, ExpireSnapshotsOptions>>(
      "Expire old snapshots and delete the files that only they need", ExpireSnapshotsFields()));
  commands.push_back(
      std::make_unique<TaskCommand<ConvertEqualityDeletes, ConvertEqualityDeletesOptions>>(
          "Turn equality deletes into deletion vectors", ConvertEqualityDeletesFields()));
  commands.push_back(std::make_unique<TaskCommand<DeleteOrphanFiles, DeleteOrphanFilesOptions>>(
      "Delete old files that nothing in the table names", DeleteOrphanFilesFields()));
  commands.push_back(
      std::make_unique<TaskCommand<RemoveDanglingDeletes, RemoveDanglingDeletesOptions>>(
          "Remove deletes that apply to no data file any more", RemoveDanglingDeletesFields()));
  commands.push_back(std::make_unique<TaskCommand<RewriteManifests, RewriteManifestsOptions>>(
      "Turn many small or unsorted manifests into few", RewriteManifestsFields()));
  commands.push_back(
      std::make_unique<TaskCommand<RewritePositionDeletes, RewritePositionDeletesOptions>>(
          "Merge position delete files, or turn them into deletion vectors",
          RewritePositionDeletesFields()));
  commands.push_back(std::make_unique<TaskCommand<ComputeTableStats, ComputeTableStatsOptions>>(
      "Count distinct values of columns into a statistics file", ComputeTableStatsFields()));
  commands.push_back(
      std::make_unique<TaskCommand<ComputePartitionStats, ComputePartitionStatsOptions>>(
          "Count files and rows of partitions into a statistics file",
          ComputePartitionStatsFields()));
  commands.push_back(std::make_unique<TaskCommand<MaintainTable, MaintainTableOptions>>(
      "The whole chain of maintenance, in the safe order", MaintainTableFields()));
}

}  // namespace icewright::cli
