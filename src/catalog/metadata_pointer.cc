#include "catalog/metadata_pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace icewright {
namespace {

// commit.status-check.*; a wrong value must not turn an unknown outcome into an error that says the
// swap failed, so it counts as unset.
struct StatusCheck {
  explicit StatusCheck(const Properties& settings)
      : retries(Setting(settings, "commit.status-check.num-retries", 3)),
        wait(Setting(settings, "commit.status-check.min-wait-ms", 1000)),
        max_wait(Setting(settings, "commit.status-check.max-wait-ms", 60000)) {}

  static std::int64_t Setting(const Properties& settings, std::string_view key,
                              std::int64_t default_value) {
    const auto value = IntProperty(settings, key, default_value);
    return value ? *value : default_value;
  }

  std::int64_t retries;
  Milliseconds wait;
  Milliseconds max_wait;
};

enum class Outcome { kLanded, kLost, kNotYet };

// What the pointer says about a swap from `current` to `next`. Errors: it does not say.
Result<Outcome> LookAtOutcome(RunContext& run, MetadataPointer& pointer, FileIO& io,
                              const std::optional<Location>& current, const Location& next) {
  IW_ASSIGN(const auto now, pointer.Get(run));
  if (now == next) return Outcome::kLanded;
  if (now == current) return Outcome::kNotYet;
  // Renamed or dropped meanwhile: ours may live on under another name.
  if (!now) return Error(Code::kNotFound, "the table is gone");

  // Others have committed. What follows `current` in the log is the file that won; a log that was
  // cut before it proves nothing.
  IW_ASSIGN(const TableState state, ReadTableState(run, io, *now));
  const auto& log = state.metadata->metadata_log;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i].metadata_file == next) return Outcome::kLanded;
    if (current && log[i].metadata_file == *current) {
      const Location& winner = i + 1 < log.size() ? log[i + 1].metadata_file : *now;
      return winner == next ? Outcome::kLanded : Outcome::kLost;
    }
  }
  return Error(Code::kConflict, "other commits hide what happened");
}

Error Unknown(const Location& next, const Error& cause) {
  return {Code::kCommitUnknown,
          fmt::format("it is not known whether {} became the table's metadata: {}", next.text(),
                      cause.message())};
}

// Writes a file that nobody names yet.
Status WriteUnnamed(RunContext& run, FileIO& io, const Location& location,
                    const TableMetadata& metadata) {
  IW_ASSIGN(const Bytes bytes, EncodeMetadata(metadata));
  Status written = WriteFile(io, location, bytes, CreateMode::kNew);
  // The answer may be lost although the file is there; its random name cannot be another's.
  if (!written && written.error().code() != Code::kAlreadyExists) DiscardFile(run, io, location);
  return std::move(written).Within("write table metadata");
}

Location NewFileFor(RunContext& run, const TableMetadata& metadata, int version, bool gzip) {
  return MetadataFolderOf(metadata).Child(
      VersionedMetadataName(version, run.random().NewUuid(), gzip));
}

// Writes `metadata` to a new file and swaps the pointer to it; false if the swap was lost, and the
// file is gone then.
Result<std::optional<Location>> WriteAndSwap(RunContext& run, MetadataPointer& pointer, FileIO& io,
                                             const std::optional<Location>& current,
                                             const TableMetadata& metadata, int version) {
  IW_ASSIGN(const bool gzip, WantsGzip(metadata.properties));
  IW_TRY(run.CheckMayWrite());
  const Location next = NewFileFor(run, metadata, version, gzip);
  IW_TRY(WriteUnnamed(run, io, next, metadata));
  const Result<bool> swapped = SwapAndFindOut(run, pointer, io, current, next, metadata.properties);
  if (swapped && *swapped) return std::optional(next);
  if (swapped || swapped.error().code() != Code::kCommitUnknown) DiscardFile(run, io, next);
  if (!swapped) return swapped.error();
  return std::optional<Location>();
}

}  // namespace

Result<bool> SwapAndFindOut(RunContext& run, MetadataPointer& pointer, FileIO& io,
                            const std::optional<Location>& current, const Location& next,
                            const Properties& settings) {
  Result<bool> swapped = pointer.Swap(run, current, next);
  if (swapped || swapped.error().code() != Code::kCommitUnknown) return swapped;
  const Error cause = swapped.error();
  const StatusCheck check(settings);
  Milliseconds wait = check.wait;
  for (std::int64_t attempt = 0; attempt <= check.retries; ++attempt) {
    if (attempt > 0) {
      if (!run.SleepFor(wait)) break;
      wait = std::min(wait * 2, check.max_wait);
    }
    const Result<Outcome> outcome = LookAtOutcome(run, pointer, io, current, next);
    if (!outcome) continue;
    if (*outcome == Outcome::kLanded) return true;
    if (*outcome == Outcome::kLost) return false;
    const Result<bool> again = pointer.Swap(run, current, next);
    // False: the pointer moved between the look and the swap; the next look tells by whom.
    if (again && *again) return true;
  }
  return Unknown(next, cause);
}

Result<TableState> CreateThroughPointer(RunContext& run, MetadataPointer& pointer, FileIO& io,
                                        TableMetadata metadata, const std::string& name) {
  IW_ASSIGN(const auto created, WriteAndSwap(run, pointer, io, std::nullopt, metadata, 0));
  if (!created) return Error(Code::kAlreadyExists, name + " was created concurrently");
  return TableState{*created, std::make_shared<const TableMetadata>(std::move(metadata))};
}

Result<TableState> RegisterThroughPointer(RunContext& run, MetadataPointer& pointer, FileIO& io,
                                          const Location& metadata_location,
                                          const std::string& name) {
  IW_ASSIGN(TableState state, ReadTableState(run, io, metadata_location));
  IW_TRY(run.CheckMayWrite());
  IW_ASSIGN(const bool registered, SwapAndFindOut(run, pointer, io, std::nullopt, metadata_location,
                                                  state.metadata->properties));
  if (!registered) return Error(Code::kAlreadyExists, name + " already exists");
  return state;
}

Result<Location> PointerOperations::CurrentLocation(RunContext& run) {
  IW_ASSIGN(const auto location, pointer_->Get(run));
  if (!location) return Error(Code::kNotFound, "there is no table " + name_);
  return *location;
}

Result<TableState> PointerOperations::Load(RunContext& run) {
  IW_ASSIGN(const Location location, CurrentLocation(run));
  return ReadTableState(run, *io_, location).Within("load " + name_);
}

Result<TableState> PointerOperations::Commit(RunContext& run, const TableState& base,
                                             std::span<const TableRequirement> requirements,
                                             std::span<const TableUpdate> updates) {
  IW_ASSIGN(const Location location, CurrentLocation(run));
  TableState current = base;
  if (location != base.metadata_location || base.metadata == nullptr) {
    IW_ASSIGN(current, ReadTableState(run, *io_, location));
  }
  IW_ASSIGN(NextMetadata next, PlanCommit(run, base, current, requirements, updates));
  if (updates.empty()) return current;
  const int version = MetadataVersionOf(current.metadata_location.file_name()).value_or(-1) + 1;
  IW_ASSIGN(const auto committed,
            WriteAndSwap(run, *pointer_, *io_, current.metadata_location, next.metadata, version));
  if (!committed) {
    return Error(Code::kConflict, fmt::format("{}: another commit moved the table on from {}",
                                              name_, current.metadata_location.text()));
  }
  DeleteDropped(run, *io_, next);
  return TableState{*committed, std::make_shared<const TableMetadata>(std::move(next.metadata))};
}

}  // namespace icewright
