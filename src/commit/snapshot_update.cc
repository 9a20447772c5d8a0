#include "commit/snapshot_update.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_set>
#include <utility>

#include "commit/retry_policy.h"
#include "commit/snapshot_producer.h"
#include "commit/update_check.h"
#include "commit/written_files.h"

namespace icewright {
namespace {

/// Positive and not in the table.
SnapshotId NewSnapshotId(Random& random, const TableMetadata& metadata) {
  for (;;) {
    const std::uint64_t mixed = random.Next() ^ random.Next();
    const auto id = SnapshotId(static_cast<std::int64_t>(
        mixed & static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
    if (Raw(id) != 0 && metadata.FindSnapshot(id) == nullptr) return id;
  }
}

std::vector<TableRequirement> RequirementsOf(const TableMetadata& base, const std::string& branch) {
  std::vector<TableRequirement> requirements;
  if (!base.table_uuid.empty()) requirements.push_back(AssertTableUuid{base.table_uuid});
  AssertRefSnapshotId unmoved{.ref = branch, .snapshot_id = {}};
  if (const auto ref = base.refs.find(branch); ref != base.refs.end()) {
    unmoved.snapshot_id = ref->second.snapshot_id;
  }
  requirements.push_back(std::move(unmoved));
  return requirements;
}

std::vector<TableUpdate> UpdatesOf(const TableMetadata& base, const SnapshotUpdate& update,
                                   const Snapshot& snapshot) {
  SnapshotRef ref;  // a new branch; an existing one keeps its retention
  if (const auto found = base.refs.find(update.branch); found != base.refs.end()) {
    ref = found->second;
  }
  ref.snapshot_id = snapshot.id;
  std::vector<TableUpdate> updates = {AddSnapshot{snapshot},
                                      SetSnapshotRef{.name = update.branch, .ref = ref}};
  if (!update.table_properties.empty()) updates.push_back(SetProperties{update.table_properties});
  return updates;
}

/// Codes that a catalog answers with before it has sent anything that could land.
bool IsBeforeSwap(Code code) {
  return code == Code::kCancelled || code == Code::kLockLost || code == Code::kUnsupported ||
         code == Code::kInvalidArgument || code == Code::kDenied;
}

/// One call of CommitSnapshot.
class Committer {
 public:
  Committer(RunContext& run, Table& table, const SnapshotUpdate& update, CommitReport& report,
            RetryPolicy policy)
      : run_(run),
        table_(table),
        update_(update),
        report_(report),
        id_(NewSnapshotId(run.random(), table.metadata())),
        written_(run.random().NewUuid()),
        producer_(update, id_, table.io(), written_),
        retry_(run, policy) {}

  /// Precondition: the table has just been loaded.
  Status Commit() {
    for (;;) {
      retry_.CountAttempt();
      report_.attempts = retry_.attempts();
      const Outcome outcome = Attempt();
      switch (outcome.next) {
        case Next::kDone:
          return Finish();
        case Next::kKeepAll:
          return *outcome.error;
        case Next::kGiveUp:
          return Fail(*outcome.error);
        case Next::kRetry:
          break;
      }
      const Status reloaded = Reload(*outcome.error);
      if (reloaded ? Landed() : LandedAfterAll()) return Finish();
      if (!reloaded) return Fail(reloaded.error());
    }
  }

 private:
  enum class Next : std::uint8_t { kDone, kRetry, kGiveUp, kKeepAll };
  struct Outcome {
    Next next = Next::kDone;
    std::optional<Error> error = {};
  };

  Outcome Attempt() {
    const Location base = table_.metadata_location();
    auto produced =
        producer_.Produce(run_, table_.metadata(), retry_.attempts(), report_.conflicts);
    if (!produced) return AfterFailedBuild(base, produced.error());
    produced_ = std::move(produced).value();
    if (Status allowed = run_.CheckMayWrite(); !allowed) return {Next::kGiveUp, allowed.error()};
    const auto requirements = RequirementsOf(table_.metadata(), update_.branch);
    const auto updates = UpdatesOf(table_.metadata(), update_, produced_.snapshot);
    const Status swapped = table_.Commit(run_, requirements, updates);
    if (swapped) return {};
    return AfterFailedSwap(swapped.error());
  }

  /// A manifest that has vanished was expired by somebody else: the base is old, nothing is wrong.
  /// A storage that is away for a moment costs an attempt, not the work that is to be committed.
  Outcome AfterFailedBuild(const Location& base, const Error& error) {
    if (IsRetryable(error.code())) return {Next::kRetry, error};
    if (error.code() != Code::kNotFound || !table_.Refresh(run_)) return {Next::kGiveUp, error};
    const bool moved = table_.metadata_location() != base;
    return {moved ? Next::kRetry : Next::kGiveUp, error};
  }

  Outcome AfterFailedSwap(const Error& error) {
    if (error.code() == Code::kConflict) return {Next::kRetry, error};
    const auto base = table_.shared_metadata();
    const bool reloaded = table_.Refresh(run_).has_value();
    if (Landed()) return {};
    if (error.code() == Code::kCommitUnknown || !(reloaded || IsBeforeSwap(error.code()))) {
      report_.snapshot_id = id_;
      report_.leftovers = written_.all();
      return {Next::kKeepAll, error};
    }
    // Catalogs apply updates to what is there now: a commit to another branch took our numbers.
    const TableMetadata& now = table_.metadata();
    const bool numbers_taken = now.last_sequence_number != base->last_sequence_number ||
                               now.next_row_id != base->next_row_id;
    const bool behind = error.code() == Code::kInvalidArgument && numbers_taken;
    return {behind ? Next::kRetry : Next::kGiveUp, error};
  }

  /// Waits as the policy says and loads the table; a load that fails for the moment counts as one
  /// more lost attempt.
  Status Reload(Error lost) {
    for (;;) {
      IW_TRY(retry_.WaitOrGiveUp(run_, lost));
      const Status refreshed = table_.Refresh(run_);
      if (refreshed || !IsRetryable(refreshed.error().code())) return refreshed;
      lost = refreshed.error();
      retry_.CountAttempt();
    }
  }

  /// True if the table has our snapshot, whatever the catalog answered.
  bool Landed() const {
    const Snapshot* snapshot = table_.metadata().FindSnapshot(id_);
    return snapshot != nullptr && snapshot->manifest_list == produced_.snapshot.manifest_list;
  }

  /// One last look before anything is deleted.
  bool LandedAfterAll() { return table_.Refresh(run_).has_value() && Landed(); }

  Status Finish() {
    report_.snapshot_id = id_;
    report_.conflicts.clear();
    std::unordered_set<Location> kept(produced_.manifests.begin(), produced_.manifests.end());
    kept.insert(produced_.snapshot.manifest_list);
    report_.leftovers = written_.DeleteAllBut(table_.io(), kept);
    return {};
  }

  Status Fail(const Error& error) {
    report_.leftovers = written_.DeleteAllBut(table_.io(), {});
    return error;
  }

  RunContext& run_;
  Table& table_;
  const SnapshotUpdate& update_;
  CommitReport& report_;
  const SnapshotId id_;
  WrittenFiles written_;
  SnapshotProducer producer_;
  CommitRetry retry_;
  ProducedSnapshot produced_;
};

}  // namespace

Status CommitSnapshot(RunContext& run, Table& table, const SnapshotUpdate& update,
                      CommitReport& report) {
  report = {};
  IW_TRY(CheckUpdate(update));
  IW_TRY(run.Check());
  IW_TRY(table.Refresh(run));
  IW_ASSIGN(const RetryPolicy policy, RetryPolicy::Of(table.metadata().properties));
  return Committer(run, table, update, report, policy).Commit();
}

}  // namespace icewright
