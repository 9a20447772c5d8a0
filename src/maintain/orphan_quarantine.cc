#include "maintain/orphan_quarantine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "maintain/file_matching.h"
#include "maintain/quarantine.h"
#include "maintain/referenced_files.h"
#include "maintain/transient_retry.h"

namespace icewright {
namespace {

constexpr OptionField<RestoreOrphansOptions> kRestoreFields[] = {
    {"quarantine", &RestoreOrphansOptions::quarantine, "where delete-orphan-files moved them to"},
    {"dry-run", &RestoreOrphansOptions::dry_run, "show what would come back, move nothing"},
};
constexpr OptionField<PurgeOrphansOptions> kPurgeFields[] = {
    {"quarantine", &PurgeOrphansOptions::quarantine, "where delete-orphan-files moved them to"},
    {"older-than", &PurgeOrphansOptions::older_than,
     "delete what has been there for longer than this; default: 7d", FieldUnit::kDuration},
    {"delete-batch-size", &PurgeOrphansOptions::delete_batch_size,
     "files per delete request; default: 1000"},
    {"dry-run", &PurgeOrphansOptions::dry_run, "show what would go, delete nothing"},
};

Result<Location> FolderFor(const std::string& quarantine, const Table& table) {
  if (quarantine.empty()) {
    return Error(Code::kInvalidArgument, "quarantine is not set: where are the files?");
  }
  if (const auto uri = SplitUri(quarantine); !uri) return uri.error().Within("quarantine");
  return QuarantineFolder(WithoutTrailingSlash(Location(quarantine)), table.metadata());
}

Result<std::vector<QuarantineRecord>> ReadRecords(RunContext& run, FileIO& io,
                                                  const Location& folder) {
  IW_ASSIGN(const auto locations,
            RetryTransient(run, [&] { return ListQuarantineRecords(io, folder); }));
  std::vector<QuarantineRecord> records;
  for (const Location& location : locations) {
    IW_TRY(run.Check());
    auto record = RetryTransient(run, [&] { return ReadQuarantineRecord(io, location); });
    // Gone: another run has just finished with it.
    if (!record && record.error().code() == Code::kNotFound) continue;
    if (!record) return record.error();
    records.push_back(*std::move(record));
  }
  return records;
}

void AddItem(const QuarantinedFile& file, const QuarantineRecord& record, TaskReport& report) {
  constexpr std::size_t kMostItems = 20'000;
  if (report.items.size() >= kMostItems) return;
  report.items.push_back({.name = file.original.text(),
                          .counts = {{"bytes", file.size},
                                     {"last-modified-ms", ToMillis(file.modified)},
                                     {"quarantined-at-ms", ToMillis(record.at)}}});
}

// False also if either cannot be read.
bool SameBytes(FileIO& io, const Location& a, const Location& b) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  const auto first = io.Open(a);
  const auto second = io.Open(b);
  if (!first || !second) return false;
  Bytes left(kChunkBytes, '\0'), right(kChunkBytes, '\0');
  for (std::int64_t offset = 0;;) {
    const auto got_left = (*first)->ReadAt(offset, left);
    const auto got_right = (*second)->ReadAt(offset, right);
    if (!got_left || !got_right || *got_left != *got_right) return false;
    if (*got_left == 0) return true;
    if (std::string_view(left).substr(0, *got_left) !=
        std::string_view(right).substr(0, *got_left)) {
      return false;
    }
    offset += static_cast<std::int64_t>(*got_left);
  }
}

// Shortens a record to the files that are still of interest; drops an empty one.
Status KeepOnly(FileIO& io, QuarantineRecord& record, std::vector<QuarantinedFile> files) {
  if (files.size() == record.files.size()) return {};
  record.files = std::move(files);
  if (record.files.empty()) return io.Delete(record.location);
  return WriteQuarantineRecord(io, record);
}

void Finish(TaskReport& report, std::int64_t planned, std::string_view nothing) {
  if (planned == 0) {
    report.outcome = TaskOutcome::kNothingToDo;
    report.reason = nothing;
  } else {
    report.outcome = TaskOutcome::kDone;
  }
  if (!report.failures.empty()) report.outcome = TaskOutcome::kPartial;
}

// ---- Restore

/// One call of RestoreOrphans::Execute. Single-threaded.
class Restoring {
 public:
  Restoring(RunContext& run, FileIO& io, const RestoreOrphansOptions& options, Location folder,
            TaskReport& report)
      : run_(run),
        io_(io),
        options_(options),
        folder_(std::move(folder)),
        wanted_(options.paths.begin(), options.paths.end()),
        report_(report) {
    for (const char* key : {"quarantined-files-count", "restored-files-count", "restored-bytes"}) {
      report_.counts[key] = 0;
    }
  }

  Status Run() {
    IW_ASSIGN(auto records, ReadRecords(run_, io_, folder_));
    IW_TRY(CheckWanted(records));
    std::int64_t planned = 0;
    for (const QuarantineRecord& record : records) {
      for (const QuarantinedFile& file : record.files) {
        if (!IsWanted(file)) continue;
        AddItem(file, record, report_);
        ++planned;
      }
    }
    report_.counts["quarantined-files-count"] = planned;
    if (options_.dry_run && planned > 0) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    run_.progress().Enter("restore", "files", planned);
    for (QuarantineRecord& record : records) {
      if (const Status status = Restore(record); !status) {
        if (report_.counts["restored-files-count"] == 0) return status;
        report_.failures.push_back(status.error());
        break;
      }
    }
    Finish(report_, planned, "nothing of this table is in the quarantine");
    return {};
  }

 private:
  bool IsWanted(const QuarantinedFile& file) const {
    return wanted_.empty() || wanted_.contains(file.original.text());
  }

  Status CheckWanted(const std::vector<QuarantineRecord>& records) const {
    std::set<std::string> unknown = wanted_;
    for (const QuarantineRecord& record : records) {
      for (const QuarantinedFile& file : record.files) unknown.erase(file.original.text());
    }
    if (unknown.empty()) return {};
    return Error(Code::kNotFound,
                 fmt::format("{} is not in the quarantine {}", *unknown.begin(), folder_.text()));
  }

  Status Restore(QuarantineRecord& record) {
    IW_TRY(run_.CheckMayWrite());
    std::vector<QuarantinedFile> rest;
    for (const QuarantinedFile& file : record.files) {
      if (!IsWanted(file) || !RestoreFile(file)) rest.push_back(file);
    }
    return KeepOnly(io_, record, std::move(rest)).Within("shorten " + record.location.text());
  }

  // False if it must stay on record.
  bool RestoreFile(const QuarantinedFile& file) {
    run_.progress().Advance();
    const Location moved = folder_.Child(file.name);
    const Status restored = RetryTransient(run_, [&] { return io_.Move(moved, file.original); });
    if (restored) {
      ++report_.counts["restored-files-count"];
      report_.counts["restored-bytes"] += file.size;
      return true;
    }
    // Never moved, or restored by a run that was killed.
    if (const auto exists = io_.Exists(moved); exists && !*exists) return true;
    // A run was killed while it copied: the file is at both places.
    if (restored.error().code() == Code::kAlreadyExists && SameBytes(io_, moved, file.original)) {
      if (io_.Delete(moved)) return true;
    }
    report_.failures.push_back(restored.error().Within("restore " + file.original.text()));
    return false;
  }

  RunContext& run_;
  FileIO& io_;
  const RestoreOrphansOptions& options_;
  const Location folder_;
  const std::set<std::string> wanted_;
  TaskReport& report_;
};

// ---- Purge

/// Which of the originals the table names by now.
Result<std::unordered_set<std::string>> StillNamed(RunContext& run, Table& table,
                                                   const std::vector<QuarantineRecord>& records) {
  std::unordered_set<std::string> originals;
  const auto normal = [](std::string_view path) {
    std::string text;
    if (const auto uri = SplitUri(path)) AppendNormalPath(uri->path, text);
    return text;
  };
  for (const QuarantineRecord& record : records) {
    for (const QuarantinedFile& file : record.files) originals.insert(normal(file.original.text()));
  }
  std::unordered_set<std::string> named;
  if (originals.empty()) return named;
  ReferencedFiles referenced(table.io(), run.threads());
  const auto load = [&] { return RetryTransient(run, [&] { return table.Refresh(run); }); };
  const auto add = [&](std::span<const std::string> paths) -> Status {
    for (const std::string& path : paths) {
      if (std::string text = normal(path); originals.contains(text)) named.insert(std::move(text));
    }
    return {};
  };
  IW_TRY(referenced.VisitTable(run, table, load, add));
  // By the spelling in the record, which is what is asked for.
  std::unordered_set<std::string> spelled;
  for (const QuarantineRecord& record : records) {
    for (const QuarantinedFile& file : record.files) {
      if (named.contains(normal(file.original.text()))) spelled.insert(file.original.text());
    }
  }
  return spelled;
}

/// One call of PurgeOrphans::Execute. Single-threaded.
class Purging {
 public:
  Purging(RunContext& run, Table& table, const PurgeOrphansOptions& options, Location folder,
          TaskReport& report)
      : run_(run),
        table_(table),
        io_(table.io()),
        options_(options),
        folder_(std::move(folder)),
        report_(report) {
    for (const char* key : {"quarantined-files-count", "purged-files-count", "purged-bytes"}) {
      report_.counts[key] = 0;
    }
  }

  Status Run() {
    IW_ASSIGN(auto records, ReadRecords(run_, io_, folder_));
    const TimePoint cutoff = run_.Now() - Milliseconds(options_.older_than);
    std::erase_if(records, [&](const QuarantineRecord& record) { return record.at > cutoff; });
    IW_ASSIGN(named_, StillNamed(run_, table_, records));
    std::int64_t planned = 0;
    for (const QuarantineRecord& record : records) {
      for (const QuarantinedFile& file : record.files) AddItem(file, record, report_);
      planned += std::ssize(record.files);
    }
    report_.counts["quarantined-files-count"] = planned;
    if (options_.dry_run && planned > 0) {
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    run_.progress().Enter("purge", "files", planned);
    for (QuarantineRecord& record : records) {
      if (const Status status = Purge(record); !status) {
        if (report_.counts["purged-files-count"] == 0) return status;
        report_.failures.push_back(status.error());
        break;
      }
    }
    Finish(report_, planned, "nothing of this table has been in the quarantine for so long");
    return {};
  }

 private:
  Status Purge(QuarantineRecord& record) {
    std::vector<QuarantinedFile> rest;
    std::vector<QuarantinedFile> batch;
    const auto purge_batch = [&]() -> Status {
      IW_TRY(run_.CheckMayWrite());
      PurgeBatch(batch, rest);
      batch.clear();
      return {};
    };
    for (const QuarantinedFile& file : record.files) {
      if (IsMissed(file.original)) {
        report_.failures.emplace_back(
            Code::kConflict, fmt::format("the table names {} by now; bring it back with 'orphans "
                                         "restore'",
                                         file.original.text()));
        rest.push_back(file);
        continue;
      }
      batch.push_back(file);
      if (std::ssize(batch) >= options_.delete_batch_size) IW_TRY(purge_batch());
    }
    if (!batch.empty()) IW_TRY(purge_batch());
    return KeepOnly(io_, record, std::move(rest)).Within("shorten " + record.location.text());
  }

  // The table names it, and it is not there.
  bool IsMissed(const Location& original) {
    if (!named_.contains(original.text())) return false;
    const auto exists = io_.Exists(original);
    return !exists || !*exists;
  }

  void PurgeBatch(const std::vector<QuarantinedFile>& batch, std::vector<QuarantinedFile>& rest) {
    std::vector<Location> paths;
    for (const QuarantinedFile& file : batch) paths.push_back(folder_.Child(file.name));
    std::set<Location> failed;
    for (const DeleteFailure& failure : io_.DeleteFiles(paths)) {
      report_.failures.push_back(failure.error.Within("delete " + failure.location.text()));
      failed.insert(failure.location);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      run_.progress().Advance();
      if (failed.contains(paths[i])) {
        rest.push_back(batch[i]);
        continue;
      }
      ++report_.counts["purged-files-count"];
      report_.counts["purged-bytes"] += batch[i].size;
    }
  }

  RunContext& run_;
  Table& table_;
  FileIO& io_;
  const PurgeOrphansOptions& options_;
  const Location folder_;
  std::unordered_set<std::string> named_;
  TaskReport& report_;
};

}  // namespace

std::span<const OptionField<RestoreOrphansOptions>> RestoreOrphansFields() {
  return kRestoreFields;
}
std::span<const OptionField<PurgeOrphansOptions>> PurgeOrphansFields() { return kPurgeFields; }

Status RestoreOrphans::Execute(RunContext& run, Table& table, TaskReport& report) const {
  IW_ASSIGN(Location folder, FolderFor(options_.quarantine, table));
  return Restoring(run, table.io(), options_, std::move(folder), report).Run();
}

Status PurgeOrphans::Execute(RunContext& run, Table& table, TaskReport& report) const {
  if (options_.older_than < 0) {
    return Error(Code::kInvalidArgument,
                 fmt::format("older-than is set to {} but must be >= 0", options_.older_than));
  }
  if (options_.delete_batch_size <= 0) {
    return Error(
        Code::kInvalidArgument,
        fmt::format("delete-batch-size is set to {} but must be > 0", options_.delete_batch_size));
  }
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  IW_ASSIGN(Location folder, FolderFor(options_.quarantine, table));
  return Purging(run, table, options_, std::move(folder), report).Run();
}

}  // namespace icewright
