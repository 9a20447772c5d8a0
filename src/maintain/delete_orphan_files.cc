#include "maintain/delete_orphan_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "maintain/file_deletion.h"
#include "maintain/orphan_reason.h"
#include "maintain/orphan_search.h"
#include "maintain/quarantine.h"
#include "maintain/referenced_files.h"
#include "maintain/task_checks.h"
#include "maintain/transient_retry.h"

namespace icewright {
namespace {

constexpr std::size_t kMostItems = 20'000;
constexpr std::size_t kSpoolBytes = std::size_t{4} << 20;
constexpr std::int64_t kFilesPerCheck = 1024;
constexpr Milliseconds kStagedInterval{10'000};

/// One call of Execute. Single-threaded but where files are taken away.
class OrphanRun {
 public:
  OrphanRun(RunContext& run, Table& table, const DeleteOrphanFilesOptions& options,
            const OrphanSettings& settings, TaskReport& report, OrphanSearch search)
      : run_(run),
        table_(table),
        options_(options),
        settings_(settings),
        report_(report),
        now_(run.Now()),
        uuid_(table.metadata().table_uuid),
        parallelism_(options.planning_parallelism.value_or(run.threads())),
        referenced_(table.io(), parallelism_),
        search_(std::move(search)),
        orphans_(search_.folder(), kSpoolBytes) {
    for (const char* key :
         {"listed-files-count", "hidden-files-count", "young-files-count", "referenced-files-count",
          "mismatched-files-count", "orphan-files-count", "orphan-bytes", "deleted-files-count",
          "quarantined-files-count", "deleted-bytes"}) {
      report_.counts[key] = 0;
    }
  }

  Status Run(const FileListing& listing) {
    NotePlacesNotSearched();
    IW_TRY(List(listing));
    if (candidates_ > 0) {
      IW_TRY(ReadReferenced());
      IW_TRY(Compare());
    }
    if (search_.counts().orphans == 0) {
      report_.outcome = TaskOutcome::kNothingToDo;
      report_.reason = "no file is an orphan and old enough";
      return {};
    }
    if (options_.dry_run) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    Delete();
    return {};
  }

 private:
  // ---- Find

  void NotePlacesNotSearched() {
    const auto base = SplitUri(settings_.location.text());
    for (const char* key : {"write.data.path", "write.object-storage.path",
                            "write.folder-storage.path", "write.metadata.path"}) {
      const auto value = table_.metadata().Property(key);
      if (!value) continue;
      const auto uri = SplitUri(*value);
      std::string outer, inner;
      if (base) AppendNormalPath(base->path, outer);
      if (uri) AppendNormalPath(uri->path, inner);
      if (inner == outer || !RelativeTo(outer, inner).empty()) continue;
      report_.notes.push_back(fmt::format(
          "{} is {}, which is not searched; run again with --location {}", key, *value, *value));
    }
  }

  Status List(const FileListing& listing) {
    ListingFilter filter(table_.state(), settings_.location, now_ - settings_.min_age);
    std::int64_t listed = 0, hidden = 0, young = 0;
    const auto look = [&](const FileStatus& file) -> Status {
      if (++listed % kFilesPerCheck == 0) IW_TRY(run_.Check());
      run_.progress().Advance();
      IW_ASSIGN(const auto verdict, filter.Judge(file));
      hidden += verdict == ListingFilter::Verdict::kHidden ? 1 : 0;
      young += verdict == ListingFilter::Verdict::kYoung ? 1 : 0;
      if (verdict != ListingFilter::Verdict::kCandidate) return {};
      ++candidates_;
      return search_.AddListed(file, filter.hash());
    };
    run_.progress().Enter("list", "files");
    FileIO& io = table_.io();
    Status status;
    if (listing) {
      status = listing(look);
    } else if (!options_.compare_to_file_list.empty()) {
      status = ReadFileList(run_, io, Location(options_.compare_to_file_list), look)
                   .Within("compare-to-file-list");
    } else if (options_.use_prefix_listing) {
      status = io.List(settings_.location, look);
    } else {
      status = WalkFolders(run_, io, settings_.location, parallelism_, filter, look);
    }
    report_.counts["listed-files-count"] = listed;
    report_.counts["hidden-files-count"] = hidden;
    report_.counts["young-files-count"] = young;
    IW_TRY(status);
    return run_.Check();
  }

  // The table as it is after the listing: what was committed meanwhile counts.
  Status ReadReferenced() {
    const auto add = [&](std::span<const std::string> paths) {
      return search_.AddReferenced(paths);
    };
    IW_TRY(Load());
    IW_TRY(VisitTable(add));
    return referenced_.VisitStaged(run_, table_.state(), StagedSince(), add);
  }

  Status VisitTable(const ReferencedFiles::Visit& visit) {
    const auto load = [&] { return Load(); };
    IW_TRY(referenced_.VisitTable(run_, table_, load, visit));
    visited_ = table_.metadata_location();
    return {};
  }

  TimePoint StagedSince() const { return now_ - 2 * settings_.min_age; }

  Status Load() {
    IW_TRY(RetryTransient(run_, [&] { return table_.Refresh(run_); }));
    if (table_.metadata().table_uuid != uuid_) {
      return Error(Code::kConflict, "another table has come in the place of " + table_.name());
    }
    return CheckMayDeleteFiles(table_, "delete orphan files", options_.dry_run);
  }

  Status Compare() {
    const Status compared = search_.Compare([&](const OrphanFile& orphan) -> Status {
      if (report_.items.size() < kMostItems) AddItem(orphan);
      return orphans_.Append(orphan.hash, PackFile(orphan.file));
    });
    const OrphanCounts& counts = search_.counts();
    report_.counts["referenced-files-count"] = counts.referenced;
    report_.counts["mismatched-files-count"] = counts.mismatched;
    report_.counts["orphan-files-count"] = counts.orphans;
    report_.counts["orphan-bytes"] = counts.bytes;
    std::ranges::sort(report_.items, {}, &TaskItem::name);
    if (counts.orphans > std::ssize(report_.items)) {
      report_.notes.push_back(
          fmt::format("{} of {} orphans are shown", report_.items.size(), counts.orphans));
    }
    return compared;
  }

  void AddItem(const OrphanFile& orphan) {
    const FileStatus& file = orphan.file;
    TaskItem item{.name = file.location.text(),
                  .counts = {{"bytes", file.size}, {"last-modified-ms", ToMillis(file.modified)}}};
    if (options_.explain) item.reason = WhyOrphan(orphan, now_, settings_.min_age);
    report_.items.push_back(std::move(item));
  }

  // ---- Delete: from here on nothing is an error

  void Delete() {
    const OrphanCounts& counts = search_.counts();
    const DeletionOptions options{
        .batch_size = options_.delete_batch_size,
        .parallelism = options_.delete_parallelism.value_or(run_.threads()),
        .total = counts.orphans};
    const DeletionSource source{
        .next = [&](DoomedFile& file) { return NextOrphan(file); },
        .spare = [&](std::vector<DoomedFile>& round) { return Spare(round); },
        .remove = [&](std::span<const Location> paths) { return Remove(paths); }};
    DeletionOutcome outcome{.pending = counts.orphans};
    if (const Status ready = orphans_.Rewind(); ready) {
      outcome = DeleteInRounds(run_, source, options);
    } else {
      outcome.stopped = ready.error();
    }
    std::int64_t deleted = 0;
    for (const std::int64_t files : outcome.deleted) deleted += files;
    report_.counts[settings_.quarantine ? "quarantined-files-count" : "deleted-files-count"] =
        deleted;
    report_.counts["deleted-bytes"] = outcome.deleted_bytes;
    Describe(outcome);
  }

  void Describe(const DeletionOutcome& outcome) {
    if (outcome.spared > 0) {
      report_.notes.push_back(
          fmt::format("{} file(s) stay: the table has come to name them", outcome.spared));
    }
    for (const DoomedFile& file : outcome.failed) report_.leftovers.push_back(file.path);
    if (outcome.first_failure) {
      report_.failures.push_back(outcome.first_failure->Within(
          fmt::format("{} file(s) could not be deleted, the first", outcome.failed.size())));
    }
    if (outcome.stopped) {
      report_.failures.push_back(
          outcome.stopped->Within(fmt::format("{} orphan(s) are left", outcome.pending)));
    }
    report_.outcome = report_.failures.empty() ? TaskOutcome::kDone : TaskOutcome::kPartial;
  }

  Result<bool> NextOrphan(DoomedFile& out) {
    HashedRecord record;
    IW_ASSIGN(const bool more, orphans_.Next(record));
    if (!more) return false;
    FileStatus file = UnpackFile(record.payload);
    out = {.path = file.location, .size_bytes = file.size};
    if (settings_.quarantine) round_.push_back(std::move(file));
    return true;
  }

  // Looks at the table again: what it has come to name since it was read stays.
  Status Spare(std::vector<DoomedFile>& round) {
    const auto add = [&](std::span<const std::string> paths) -> Status {
      IW_TRY(late_memory_.Resize(late_.BytesWith(paths.size())));
      for (const std::string& path : paths) {
        IW_ASSIGN(const FileUri uri, SplitUri(path));
        late_.Insert(HashOfPath(uri.path));
      }
      return {};
    };
    if (late_memory_.bytes() == 0) {
      IW_ASSIGN(late_memory_, run_.memory().Reserve(1, "paths of new files"));
    }
    IW_TRY(Load().Within("load the table before files are deleted"));
    if (table_.metadata_location() != visited_) IW_TRY(VisitTable(add));
    if (const TimePoint now = run_.Now(); !staged_at_ || now - *staged_at_ >= kStagedInterval) {
      IW_TRY(referenced_.VisitStaged(run_, table_.state(), StagedSince(), add));
      staged_at_ = now;
    }
    const auto is_named = [&](const Location& path) {
      const auto uri = SplitUri(path.text());
      return !uri || late_.Contains(HashOfPath(uri->path));
    };
    std::erase_if(round, [&](const DoomedFile& file) { return is_named(file.path); });
    if (!settings_.quarantine) return {};
    std::erase_if(round_, [&](const FileStatus& file) { return is_named(file.location); });
    return RecordRound();
  }

  // ---- Quarantine

  // Before the first file of the round is moved.
  Status RecordRound() {
    quarantined_.clear();
    if (round_.empty()) return {};
    const Location folder = QuarantineFolder(*settings_.quarantine, table_.metadata());
    if (quarantine_run_.empty()) quarantine_run_ = run_.random().NewUuid();
    QuarantineRecord record{
        .location = folder.Child(fmt::format("{}-{:06}.json", quarantine_run_, ++rounds_)),
        .table_uuid = table_.metadata().table_uuid,
        .table = table_.name(),
        .at = run_.Now()};
    for (FileStatus& file : round_) {
      std::string name = QuarantineName(quarantine_run_, ++quarantine_count_, file.location);
      quarantined_.emplace(file.location, folder.Child(name));
      record.files.push_back({.original = std::move(file.location),
                              .name = std::move(name),
                              .size = file.size,
                              .modified = file.modified});
    }
    round_.clear();
    return RetryTransient(run_, [&] { return WriteQuarantineRecord(table_.io(), record); })
        .Within("write " + record.location.text());
  }

  std::vector<DeleteFailure> Remove(std::span<const Location> paths) {
    if (!settings_.quarantine) return table_.io().DeleteFiles(paths);
    std::vector<DeleteFailure> failures;
    for (const Location& path : paths) {
      const Status moved = table_.io().Move(path, quarantined_.at(path));
      // A file that is gone already is no error.
      if (moved || moved.error().code() == Code::kNotFound) continue;
      failures.push_back({path, moved.error()});
    }
    return failures;
  }

  RunContext& run_;
  Table& table_;
  const DeleteOrphanFilesOptions& options_;
  const OrphanSettings& settings_;
  TaskReport& report_;
  const TimePoint now_;
  const std::string uuid_;
  const int parallelism_;
  ReferencedFiles referenced_;
  OrphanSearch search_;
  RecordSpool orphans_;
  std::int64_t candidates_ = 0;

  Location visited_;  // metadata file of the state that referenced_ has visited
  std::optional<TimePoint> staged_at_;
  PathSet late_;  // named since the table was read
  Reservation late_memory_;

  std::vector<FileStatus> round_;  // with a quarantine: what is about to be moved
  std::unordered_map<Location, Location> quarantined_;
  std::string quarantine_run_;
  int rounds_ = 0;
  std::int64_t quarantine_count_ = 0;
};

}  // namespace

Status DeleteOrphanFiles::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  IW_ASSIGN(const OrphanSettings settings, ResolveOrphanOptions(options_, table.metadata()));
  IW_TRY(CheckMayDeleteFiles(table, "delete orphan files", options_.dry_run));
  IW_ASSIGN(OrphanSearch search, OrphanSearch::Start(run, settings.rules, settings.mode));
  return OrphanRun(run, table, options_, settings, report, std::move(search)).Run(listing_);
}

}  // namespace icewright
