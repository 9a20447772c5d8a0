#include "maintain/delete_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "maintain/staged_changes.h"
#include "maintain/staging_history.h"
#include "maintain/stored_key_places.h"

namespace icewright {
namespace {

/// Of one deleted key in a batch: in the set that is looked for, and with the row that has it.
constexpr std::int64_t kBatchKeyBytes = 200;
/// A look-up in an index on disk costs about as much as reading so many rows of keys.
constexpr std::int64_t kRowsPerLookUp = 200;

std::int64_t KeysOf(const std::vector<DataFile>& deletes) {
  std::int64_t keys = 0;
  for (const DataFile& file : deletes) keys += file.record_count;
  return keys;
}

/// What keys are read by. Another state of it, and what was read must be read again.
std::string ReadingState(const TableMetadata& metadata) {
  return fmt::format("{} {} {}", Raw(metadata.schema().id().value_or(SchemaId{0})),
                     metadata.partition_specs.size(),
                     metadata.Property("schema.name-mapping.default").value_or(""));
}

}  // namespace

Result<std::vector<ResolvedFile>> DeleteResolver::Resolve(RunContext& run, const Table& table,
                                                          const ConvertWork& work) {
  if (work.equality_deletes.empty()) return std::vector<ResolvedFile>();
  if (WantsIndex(work)) {
    auto resolved = WithIndex(run, table, work);
    if (resolved || settings_.resolve == ResolveMode::kIndexed) return resolved;
    IW_TRY(run.Check());
    // A scan meets the same fault if it is not the index's.
    no_index_ = true;
    index_.reset();
    notes_.push_back("the index is not used: " + resolved.error().message());
  }
  if (settings_.in_place()) return Scan(run, table, work);
  if (!BatchHolds(table, work) && !no_batch_) {
    batch_.reset();
    IW_TRY(MakeBatch(run, table));
  }
  if (!BatchHolds(table, work)) return Scan(run, table, work);
  auto resolved = WithBatch(run, table, work);
  if (resolved || resolved.error().code() != Code::kExhausted) return resolved;
  batch_.reset();
  no_batch_ = true;
  return Scan(run, table, work);
}

Result<std::vector<ResolvedFile>> DeleteResolver::Scan(RunContext& run, const Table& table,
                                                       const ConvertWork& work) {
  files_read_ += std::ranges::count_if(work.tasks, HasEqualityDeletes);
  return ResolveEqualityDeletes(run, table.shared_metadata(), table.shared_io(), work.tasks,
                                work.resolve);
}

Result<std::vector<ResolvedFile>> DeleteResolver::WithBatch(RunContext& run, const Table& table,
                                                            const ConvertWork& work) {
  const std::int64_t before = batch_->places->files_read();
  auto resolved = LookUpEqualityDeletes(run, table.shared_metadata(), table.shared_io(), work.tasks,
                                        batch_->keys, *batch_->places, work.resolve);
  files_read_ += batch_->places->files_read() - before;
  return resolved;
}

/// Of the snapshots that wait, as many as fit into a quarter of the memory; no batch for fewer than
/// two, or if the deletes of one cannot be read: that is for when its turn comes.
Status DeleteResolver::MakeBatch(RunContext& run, const Table& table) {
  const TableMetadata& metadata = table.metadata();
  IW_ASSIGN(const auto waiting, FindWaitingSnapshots(metadata, settings_.staging, settings_.target,
                                                     settings_.resume_from));
  std::int64_t room = run.memory().available() / 4 / kBatchKeyBytes;
  std::int64_t most = settings_.max_snapshots.value_or(std::ssize(waiting.snapshots));
  std::vector<DataFile> deletes;
  int snapshots = 0;
  for (const Snapshot* staged : waiting.snapshots) {
    auto changes = ReadStagedChanges(run, table.io(), metadata, *staged, settings_.key);
    if (!changes) break;
    if (changes->empty()) continue;
    room -= KeysOf(changes->equality_deletes);
    if (room < 0 || most-- == 0) break;
    snapshots += changes->equality_deletes.empty() ? 0 : 1;
    for (DataFile& file : changes->equality_deletes) {
      file.DropMetrics();
      deletes.push_back(std::move(file));
    }
  }
  if (snapshots < 2) return {};
  IW_ASSIGN(RowKeys keys, RowKeys::Make(table.shared_metadata(), table.shared_io(), settings_.key));
  if (const Status status = keys.KeepOnly(run, deletes); !status) {
    no_batch_ = true;
    return run.Check();
  }
  batch_ =
      std::make_unique<Batch>(Batch{.state = ReadingState(metadata),
                                    .keys = std::move(keys),
                                    .places = std::make_unique<KeyPlacesInMemory>(run.memory())});
  for (const DataFile& file : deletes) batch_->deletes.insert(file.file_path.text());
  return {};
}

bool DeleteResolver::BatchHolds(const Table& table, const ConvertWork& work) const {
  return batch_ != nullptr && batch_->state == ReadingState(table.metadata()) &&
         std::ranges::all_of(work.equality_deletes, [&](const DataFile& file) {
           return batch_->deletes.contains(file.file_path.text());
         });
}

bool DeleteResolver::WantsIndex(const ConvertWork& work) const {
  if (settings_.index_path.empty() || no_index_) return false;
  if (settings_.resolve != ResolveMode::kAuto) return settings_.resolve == ResolveMode::kIndexed;
  std::int64_t rows = 0;
  for (const FileTask& task : work.tasks) {
    if (HasEqualityDeletes(task)) rows += task.data_file.record_count;
  }
  return KeysOf(work.equality_deletes) < rows / kRowsPerLookUp;
}

Result<std::vector<ResolvedFile>> DeleteResolver::WithIndex(RunContext& run, const Table& table,
                                                            const ConvertWork& work) {
  IW_ASSIGN(const RowKeys keys,
            RowKeys::Make(table.shared_metadata(), table.shared_io(), settings_.key));
  for (bool again = false;; again = true) {
    if (index_ == nullptr || index_layout_ != keys.layout()) {
      index_.reset();
      auto opened = OpenStoredKeyPlaces(run, settings_, table.metadata(), keys.layout(), again);
      if (!opened) return opened.error();
      if (!opened->note.empty()) {
        notes_.push_back(opened->note);
        ++indices_begun_anew_;
      }
      index_ = std::move(opened->places);
      index_layout_ = keys.layout();
    }
    const std::int64_t files = index_->files_read();
    const std::int64_t rows = index_->rows_read();
    auto resolved = LookUpEqualityDeletes(run, table.shared_metadata(), table.shared_io(),
                                          work.tasks, keys, *index_, work.resolve);
    files_read_ += index_->files_read() - files;
    rows_indexed_ += index_->rows_read() - rows;
    if (resolved || !index_->is_broken() || again) return resolved;
    index_.reset();  // and begin anew
  }
}

}  // namespace icewright
