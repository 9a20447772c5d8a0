#include "schedule/task_types.h"

#include <algorithm>
#include <chrono>

#include "config/fields.h"
#include "maintain/compute_partition_stats.h"
#include "maintain/compute_table_stats.h"
#include "maintain/convert_equality_deletes.h"
#include "maintain/delete_orphan_files.h"
#include "maintain/expire_snapshots.h"
#include "maintain/remove_dangling_deletes.h"
#include "maintain/rewrite_data_files.h"
#include "maintain/rewrite_manifests.h"
#include "maintain/rewrite_position_deletes.h"

namespace icewright {
namespace {

using std::chrono::seconds;

/// Fills in how a task is made from the rows of its options.
template <typename Task, typename Options>
TaskType With(TaskType type, std::span<const OptionField<Options>> fields,
              Status (*check)(const Options&) = nullptr) {
  for (const OptionField<Options>& field : fields) type.option_keys.push_back(field.key);
  type.make = [fields, check](
                  const TaskOptionTexts& texts) -> Result<std::shared_ptr<const MaintenanceTask>> {
    Options options;
    for (const auto& [key, text] : texts) IW_TRY(SetField(fields, key, text, options));
    if (check != nullptr) IW_TRY(check(options));
    return std::make_shared<const Task>(std::move(options));
  };
  return type;
}

/// A task that Flink's maintenance does not have: its schedule must be written.
template <typename Task, typename Options>
TaskType Plain(std::string_view name, std::string_view java_name,
               std::span<const OptionField<Options>> fields) {
  return With<Task>({.name = name, .java_name = java_name, .flink = {}}, fields);
}

TaskType Rewrite() {
  return With<RewriteDataFiles>(
      {.name = "rewrite-data-files",
       .java_name = "RewriteDataFiles",
       .flink = "rewrite",
       .flink_keys = {{"max-bytes", "max-rewrite-bytes"}},
       .flink_passes_options = true,
       .flink_schedule = {.on_commit_count = 10,
                          .on_data_file_count = 1000,
                          .on_data_file_size_bytes = std::int64_t{100} << 30,
                          .on_interval = seconds(600)},
       .branch_options = {"branch"},
       .rewrites_data = true},
      RewriteDataFilesFields());
}

TaskType Convert() {
  return With<ConvertEqualityDeletes>({.name = "convert-equality-deletes",
                                       .java_name = "ConvertEqualityDeletes",
                                       .flink = "convert-equality-deletes",
                                       .flink_keys = {{"target-branch", "target-branch"}},
                                       .flink_schedule = {.on_commit_count = 1},
                                       .branch_options = {"staging-branch", "target-branch"},
                                       .rewrites_data = true},
                                      ConvertEqualityDeletesFields());
}

TaskType Expire() {
  return With<ExpireSnapshots>(
      {.name = "expire-snapshots",
       .java_name = "ExpireSnapshots",
       .flink = "expire-snapshots",
       .flink_keys = {{"max-snapshot-age-seconds", "max-snapshot-age", "s"},
                      {"retain-last", "retain-last"},
                      {"delete-batch-size", "delete-batch-size"},
                      {"clean-expired-metadata", "clean-expired-metadata"},
                      {"planning-worker-pool-size", "planning-parallelism"}},
       .flink_schedule = {.on_commit_count = 10, .on_interval = seconds(3600)}},
      ExpireSnapshotsFields());
}

// Refused here already, not only by the run in the middle of the night.
Status CheckMinAge(const DeleteOrphanFilesOptions& options) {
  constexpr std::int64_t kDayMs = std::int64_t{24} * 3600 * 1000;
  if (options.min_age >= kDayMs || options.force_min_age) return {};
  return Error(Code::kInvalidArgument,
               "min-age must be at least 24h: files of a commit that is under way are that young");
}

TaskType Orphans() {
  return With<DeleteOrphanFiles>(
      {.name = "delete-orphan-files",
       .java_name = "DeleteOrphanFiles",
       .flink = "delete-orphan-files",
       .flink_keys = {{"min-age-seconds", "min-age", "s"},
                      {"delete-batch-size", "delete-batch-size"},
                      {"location", "location"},
                      {"use-prefix-listing", "use-prefix-listing"},
                      {"planning-worker-pool-size", "planning-parallelism"},
                      {"equal-schemes", "equal-schemes"},
                      {"equal-authorities", "equal-authorities"},
                      {"prefix-mismatch-mode", "prefix-mismatch-mode"}},
       .flink_schedule = {.on_interval = seconds(3600)}},
      DeleteOrphanFilesFields(), CheckMinAge);
}

}  // namespace

const std::vector<TaskType>& TaskTypes() {
  static const std::vector<TaskType> kTypes = {
      Rewrite(),
      Convert(),
      Expire(),
      Orphans(),
      Plain<RewriteManifests>("rewrite-manifests", "RewriteManifests", RewriteManifestsFields()),
      Plain<RewritePositionDeletes>("rewrite-position-deletes", "RewritePositionDeletes",
                                    RewritePositionDeletesFields()),
      Plain<RemoveDanglingDeletes>("remove-dangling-deletes", "RemoveDanglingDeletes",
                                   RemoveDanglingDeletesFields()),
      Plain<ComputeTableStats>("compute-table-stats", "ComputeTableStats",
                               ComputeTableStatsFields()),
      Plain<ComputePartitionStats>("compute-partition-stats", "ComputePartitionStats",
                                   ComputePartitionStatsFields())};
  return kTypes;
}

const TaskType* FindTaskType(std::string_view name) {
  const auto& types = TaskTypes();
  const auto found = std::ranges::find(types, name, &TaskType::name);
  return found == types.end() ? nullptr : &*found;
}

}  // namespace icewright
