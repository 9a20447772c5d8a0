#include "maintain/expire_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "catalog/metadata_files.h"
#include "commit/retry_policy.h"
#include "maintain/deletion_journal.h"
#include "maintain/expire_snapshots_plan.h"
#include "maintain/file_deletion.h"
#include "maintain/reachable_files.h"
#include "maintain/task_checks.h"
#include "maintain/transient_retry.h"

namespace icewright {
namespace {

std::string Counter(std::string_view what, std::string_view kind) {
  return fmt::format("{}-{}-count", what, kind);
}

/// One call of Execute. Single-threaded.
class Expiry {
 public:
  Expiry(RunContext& run, Table& table, const ExpireSnapshotsOptions& options, TaskReport& report)
      : run_(run),
        table_(table),
        options_(options),
        report_(report),
        now_(run.Now()),
        parallelism_(options.planning_parallelism.value_or(run.threads())),
        manifests_(table.io(), parallelism_),
        reachable_(table.io(), manifests_, parallelism_),
        journal_(JournalLocation(FolderOf(table.metadata_location()), run.random().NewUuid())) {
    for (const char* key :
         {"expired-snapshots-count", "expired-refs-count", "removed-partition-specs-count",
          "removed-schemas-count", "planned-bytes", "deleted-bytes"}) {
      report_.counts[key] = 0;
    }
    for (const std::string_view kind : kFileKindNames) {
      report_.counts[Counter("planned", kind)] = 0;
      report_.counts[Counter("deleted", kind)] = 0;
    }
  }

  Status Run() {
    IW_TRY(ResolveExpireOptions(options_, table_.metadata().properties));
    IW_TRY(SettleEarlierRuns());
    IW_ASSIGN(const RetryPolicy policy, RetryPolicy::Of(table_.metadata().properties));
    CommitRetry retry(run_, policy);
    for (;;) {
      retry.CountAttempt();
      const Location base = table_.metadata_location();
      const Status attempted = Attempt();
      if (attempted) return {};
      const Error& error = attempted.error();
      if (committed_) return error;
      const bool vanished = error.code() == Code::kNotFound && MovedOn(base);
      if (error.code() != Code::kConflict && !vanished) return error;
      IW_TRY(retry.WaitOrGiveUp(run_, error));
      IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
    }
  }

 private:
  // ---- Plan

  Status Plan() {
    IW_ASSIGN(settings_, ResolveExpireOptions(options_, table_.metadata().properties));
    IW_ASSIGN(plan_, PlanExpireSnapshots(table_.metadata(), options_, settings_, now_));
    const TableMetadata& metadata = table_.metadata();
    if (!options_.clean_expired_metadata || metadata.partition_specs.size() < 2) return {};
    IW_TRY(manifests_.Read(run_, metadata, plan_.kept, SnapshotManifests::Missing::kIsAnError));
    std::set<SpecId> used;
    for (const SnapshotId id : plan_.kept) {
      for (const auto manifest : manifests_.Of(id)) {
        used.insert(manifests_.manifest(manifest).partition_spec_id);
      }
    }
    plan_.expired_specs = PlanExpiredSpecs(metadata, used);
    return {};
  }

  // `state`: what the plan was made on.
  Status FindFiles(const TableState& state, const std::function<Status(const DoomedFile&)>& visit) {
    doomed_ = {};
    if (settings_.level == CleanUpLevel::kNone || plan_.expired.empty()) return {};
    const bool all = settings_.level == CleanUpLevel::kAll;
    const DoomedSearch search{.state = state,
                              .expired = plan_.expired,
                              .kept = plan_.kept,
                              .depth = all ? Depth::kContent : Depth::kMetadata,
                              .parallelism = parallelism_};
    return FindDoomedFiles(run_, table_.io(), search, manifests_, reachable_, visit, doomed_);
  }

  void Describe() {
    auto& counts = report_.counts;
    counts["expired-snapshots-count"] = std::ssize(plan_.expired);
    counts["expired-refs-count"] = std::ssize(plan_.expired_refs);
    counts["removed-partition-specs-count"] = std::ssize(plan_.expired_specs);
    counts["removed-schemas-count"] = std::ssize(plan_.expired_schemas);
    for (std::size_t i = 0; i < kFileKindNames.size(); ++i) {
      counts[Counter("planned", kFileKindNames[i])] = doomed_.files[i];
    }
    counts["planned-bytes"] = doomed_.bytes;
    const TableMetadata& metadata = table_.metadata();
    const SnapshotIndex index(metadata);
    const auto add_item = [&](std::string name, SnapshotId id) {
      const Snapshot* snapshot = index.Find(id);
      const std::int64_t at = snapshot == nullptr ? 0 : ToMillis(snapshot->timestamp);
      report_.items.push_back({std::move(name), {{"snapshot-id", Raw(id)}, {"timestamp-ms", at}}});
    };
    report_.items.clear();
    for (const std::string& name : plan_.expired_refs) {
      const SnapshotRef& ref = metadata.refs.find(name)->second;
      const bool is_tag = ref.kind == SnapshotRef::Kind::kTag;
      add_item((is_tag ? "tag " : "branch ") + name, ref.snapshot_id);
    }
    for (const SnapshotId id : plan_.expired) add_item("snapshot " + ToString(id), id);
    DescribeNotes();
  }

  void DescribeNotes() {
    report_.notes.resize(notes_before_plan_);
    for (const std::string& note : plan_.notes) report_.notes.push_back(note);
    if (doomed_.already_unreachable > 0) {
      report_.notes.push_back(
          fmt::format("{} of the files were not reachable before either: an expired snapshot names "
                      "them as deleted, and an earlier expiry may have left them",
                      doomed_.already_unreachable));
    }
    if (!doomed_.missing.empty()) {
      report_.notes.push_back(fmt::format(
          "{} manifest(s) or manifest list(s) of expired snapshots are missing, the first is {}: "
          "files that only they name are not found; delete-orphan-files finds them",
          doomed_.missing.size(), doomed_.missing.front().text()));
    }
  }

  // ---- Commit

  // Plans on the state that the table holds, and commits. Everything is decided anew each time.
  Status Attempt() {
    IW_TRY(Plan());
    if (plan_.empty()) return NothingToExpire();
    if (options_.dry_run) {
      IW_TRY(FindFiles(table_.state(), [](const DoomedFile&) { return Status(); }));
      Describe();
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    IW_ASSIGN(const bool has_journal, WriteJournal(table_.state()));
    const Status committed = Commit();
    if (!committed) return AfterFailedCommit(committed.error(), has_journal);
    return Finish(has_journal);
  }

  Status NothingToExpire() {
    Describe();
    if (settled_) {
      report_.outcome = report_.failures.empty() ? TaskOutcome::kDone : TaskOutcome::kPartial;
      return {};
    }
    report_.outcome = report_.failures.empty() ? TaskOutcome::kNothingToDo : TaskOutcome::kPartial;
    report_.reason = "no snapshot, branch, tag, partition spec or schema expires";
    return {};
  }

  // False if nothing is to be deleted; then there is none.
  Result<bool> WriteJournal(const TableState& state) {
    std::optional<JournalWriter> writer;
    const auto add = [&](const DoomedFile& file) -> Status {
      if (!writer) {
        IW_ASSIGN(writer, JournalWriter::Create(table_.io(), journal_,
                                                {.table_uuid = state.metadata->table_uuid,
                                                 .base_metadata = state.metadata_location,
                                                 .expired = plan_.expired}));
      }
      return writer->Add(file);
    };
    IW_TRY(FindFiles(state, add));
    if (!writer) return false;
    if (Status closed = writer->Close(); !closed) {
      // The answer may be lost although the file is there.
      DropJournal(journal_);
      return closed.error().Within("write " + journal_.text());
    }
    return true;
  }

  Status Commit() {
    IW_TRY(run_.CheckMayWrite());
    run_.progress().Enter("commit", "commits", 1);
    const auto requirements = RequirementsOf(table_.metadata(), plan_);
    const auto updates = UpdatesOf(plan_);
    // Described before: afterwards the table no longer has what the items name.
    Describe();
    base_ = table_.state();
    return table_.Commit(run_, requirements, updates);
  }

  // Deletes the journal only if the commit is known not to have landed. A conflict is no proof: a
  // request whose answer was lost may have been repeated on the way.
  Status AfterFailedCommit(const Error& error, bool has_journal) {
    const bool seen = error.code() != Code::kCommitUnknown &&
                      RetryTransient(run_, [&] { return table_.Refresh(run_); }).has_value();
    if (seen && Landed(plan_)) return Finish(has_journal);
    if (!has_journal) return error;
    if (seen && HasAny(plan_.expired)) {
      DropJournal(journal_);
      return error;
    }
    report_.notes.push_back(fmt::format(
        "no file was deleted; {} lists what to delete if the commit has landed, and the next run "
        "finds out",
        journal_.text()));
    return error;
  }

  bool HasAny(const std::vector<SnapshotId>& ids) const {
    const SnapshotIndex index(table_.metadata());
    return std::ranges::any_of(ids, [&](SnapshotId id) { return index.Find(id) != nullptr; });
  }

  // Precondition: the commit failed, and the table has been loaded since. True, too, if another run
  // has removed all of it: the files are to be deleted then as well.
  bool Landed(const ExpireSnapshotsPlan& plan) const {
    const auto has_ref = [&](const std::string& name) {
      return table_.metadata().refs.contains(name);
    };
    return !plan.expired.empty() && !HasAny(plan.expired) &&
           std::ranges::none_of(plan.expired_refs, has_ref);
  }

  bool MovedOn(const Location& base) {
    return table_.Refresh(run_).has_value() && table_.metadata_location() != base;
  }

  // ---- Delete

  // The commit has landed: from here on nothing is an error.
  Status Finish(bool has_journal) {
    committed_ = true;
    report_.outcome = TaskOutcome::kDone;
    const Location previous = PreviousMetadata();
    if (has_journal) DeleteOwn();
    if (settings_.level != CleanUpLevel::kNone) DeleteLateStatistics(previous);
    if (!report_.failures.empty()) report_.outcome = TaskOutcome::kPartial;
    return {};
  }

  void DeleteOwn() {
    const auto exists = table_.io().Exists(journal_);
    if (exists && !*exists) {
      // Another run came before the commit, and dropped it as that of a commit that did not land.
      const auto written = WriteJournal(base_);
      if (!written) {
        report_.failures.push_back(written.error().Within("write " + journal_.text() + " again"));
        return;
      }
    }
    Delete(journal_, doomed_.total());
  }

  /// The metadata that the commit was made on; empty if the table does not say.
  Location PreviousMetadata() const {
    const auto& log = table_.metadata().metadata_log;
    return log.empty() ? Location() : log.back().metadata_file;
  }

  // Statistics of a snapshot that expired, registered between the plan and the commit: no
  // requirement can keep them out, and only the metadata in between names their files.
  void DeleteLateStatistics(const Location& previous) {
    if (previous.empty() || previous == base_.metadata_location || plan_.expired.empty()) return;
    const auto find = [&]() -> Result<std::vector<Location>> {
      IW_TRY(run_.CheckMayWrite());
      IW_ASSIGN(const TableState late, ReadTableState(run_, table_.io(), previous));
      IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
      const auto planned = StatisticsOf(*base_.metadata);
      const auto named = StatisticsOf(table_.metadata());
      std::vector<Location> files;
      for (const auto& [path, snapshot] : StatisticsOf(*late.metadata)) {
        const bool expired = std::ranges::find(plan_.expired, snapshot) != plan_.expired.end();
        if (expired && !planned.contains(path) && !named.contains(path)) files.push_back(path);
      }
      return files;
    };
    const auto files = find();
    if (!files) {
      report_.notes.push_back("statistics that came meanwhile were not looked for: " +
                              files.error().message());
      return;
    }
    for (const Location& file : *files) {
      if (table_.io().Delete(file)) {
        ++report_.counts[Counter("deleted", Name(FileKind::kStatistics))];
      } else {
        report_.leftovers.push_back(file);
      }
    }
  }

  static std::unordered_map<Location, SnapshotId> StatisticsOf(const TableMetadata& metadata) {
    std::unordered_map<Location, SnapshotId> out;
    for (const auto& file : metadata.statistics) out[file.statistics_path] = file.snapshot_id;
    for (const auto& file : metadata.partition_statistics) {
      out[file.statistics_path] = file.snapshot_id;
    }
    return out;
  }

  void Delete(const Location& journal, std::int64_t total) {
    const DeletionOptions options{
        .batch_size = options_.delete_batch_size,
        .parallelism = options_.delete_parallelism.value_or(run_.threads()),
        .total = total};
    const DeletionOutcome outcome = DeleteJournaled(run_, table_, journal, reachable_, options);
    for (std::size_t i = 0; i < kFileKindNames.size(); ++i) {
      report_.counts[Counter("deleted", kFileKindNames[i])] += outcome.deleted[i];
    }
    report_.counts["deleted-bytes"] += outcome.deleted_bytes;
    if (outcome.spared > 0) {
      report_.notes.push_back(fmt::format(
          "{} file(s) stay: a snapshot that came meanwhile reaches them", outcome.spared));
    }
    for (const DoomedFile& file : outcome.failed) report_.leftovers.push_back(file.path);
    if (outcome.first_failure) {
      report_.failures.push_back(outcome.first_failure->Within(
          fmt::format("{} file(s) could not be deleted, the first", outcome.failed.size())));
    }
    if (outcome.stopped) {
      report_.failures.push_back(outcome.stopped->Within(fmt::format(
          "{} deletion(s) are left to the next run, see {}", outcome.pending, journal.text())));
      return;
    }
    if (outcome.failed.empty()) {
      DropJournal(journal);
    } else {
      KeepForNextRun(journal, outcome.failed);
    }
  }

  // Shrinks the journal to what is left; if that fails it stays as it is, which does no harm.
  void KeepForNextRun(const Location& journal, const std::vector<DoomedFile>& failed) {
    const auto rewrite = [&]() -> Status {
      IW_ASSIGN(const auto reader, JournalReader::Open(table_.io(), journal));
      IW_ASSIGN(auto writer, JournalWriter::Create(table_.io(), journal, reader.header()));
      for (const DoomedFile& file : failed) IW_TRY(writer.Add(file));
      return writer.Close();
    };
    if (const Status status = rewrite(); !status) run_.log().Warning(status.error().message());
  }

  void DropJournal(const Location& journal) {
    if (const Status status = table_.io().Delete(journal); !status) {
      report_.notes.push_back(fmt::format("{} could not be deleted, the next run will: {}",
                                          journal.text(), status.error().message()));
    }
  }

  // ---- Earlier runs

  Status SettleEarlierRuns() {
    const auto journals = ListJournals(table_.io(), FolderOf(table_.metadata_location()));
    if (!journals) {
      report_.notes.push_back("journals of earlier runs were not looked for: " +
                              journals.error().message());
    } else if (options_.dry_run && !journals->empty()) {
      report_.notes.push_back(fmt::format(
          "{} journal(s) of earlier runs wait to be finished by the next run", journals->size()));
    } else {
      for (const Location& journal : *journals) {
        const Status settled = Settle(journal);
        IW_TRY(run_.Check());
        if (settled) continue;
        report_.failures.push_back(settled.error().Within("finish " + journal.text()));
      }
    }
    notes_before_plan_ = report_.notes.size();
    return {};
  }

  bool HasLanded(const JournalHeader& header) const {
    return table_.metadata_location() != header.base_metadata && !HasAny(header.expired);
  }

  // Finishes the deletions of a run that was killed after its commit; drops the journal of one
  // whose commit did not land.
  Status Settle(const Location& journal) {
    auto reader = RetryTransient(run_, [&] { return JournalReader::Open(table_.io(), journal); });
    if (!reader) {
      // Gone: another run has just finished it.
      return reader.error().code() == Code::kNotFound ? Status() : Status(reader.error());
    }
    const JournalHeader header = reader->header();
    if (header.table_uuid != table_.metadata().table_uuid) {
      report_.notes.push_back(
          fmt::format("{} is left alone: it belongs to another table", journal.text()));
      return {};
    }
    std::int64_t total = 0;
    Depth depth = Depth::kMetadata;
    for (DoomedFile file;; ++total) {
      IW_ASSIGN(const bool more, reader->Next(file));
      if (!more) break;
      if (IsContent(file.kind)) depth = Depth::kContent;
    }
    IW_TRY(run_.CheckMayWrite());
    if (!HasLanded(header)) {
      // Its run may be alive and have committed just now.
      IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
      if (!HasLanded(header)) {
        DropJournal(journal);
        return {};
      }
    }
    std::vector<SnapshotId> all;
    for (const Snapshot& snapshot : table_.metadata().snapshots) all.push_back(snapshot.id);
    IW_TRY(reachable_.Cover(run_, table_.state(), all, {}, depth));
    settled_ = true;
    Delete(journal, total);
    report_.notes.push_back(
        fmt::format("finished the deletions of an earlier run: {}", journal.text()));
    return {};
  }

  RunContext& run_;
  Table& table_;
  const ExpireSnapshotsOptions& options_;
  TaskReport& report_;
  const TimePoint now_;
  const int parallelism_;
  SnapshotManifests manifests_;
  ReachableFiles reachable_;
  const Location journal_;

  TableState base_;  // what the commit was decided on
  ExpireSettings settings_;
  ExpireSnapshotsPlan plan_;
  DoomedSummary doomed_;
  std::size_t notes_before_plan_ = 0;
  bool committed_ = false;
  bool settled_ = false;  // deletions of an earlier run were done
};

}  // namespace

Status ExpireSnapshots::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  IW_TRY(CheckMayDeleteFiles(table, "expire snapshots", options_.dry_run));
  return Expiry(run, table, options_, report).Run();
}

}  // namespace icewright
