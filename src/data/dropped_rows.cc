#include "data/dropped_rows.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "data/arrow_bridge.h"
#include "data/batch_reader.h"
#include "data/delete_cache.h"

namespace icewright {
namespace {

/// Rough size of a bitmap: two bytes a position, as in an array container.
std::int64_t BytesOf(const PositionBitmap& bitmap) { return 256 + bitmap.cardinality() * 2; }

/// Of one column's value in a key of several columns or of text.
constexpr std::int64_t kColumnBytes = 24;

/// Positions that are not in what was kept.
class Gaps {
 public:
  void Keep(std::int64_t position) {
    bitmap_.AddRange(next_, position);
    next_ = position + 1;
  }
  PositionBitmap Finish(std::int64_t rows) && {
    bitmap_.AddRange(next_, rows);
    return std::move(bitmap_);
  }

 private:
  PositionBitmap bitmap_;
  std::int64_t next_ = 0;
};

const arrow::Int64Array& Integers(const arrow::RecordBatch& batch, int column) {
  return static_cast<const arrow::Int64Array&>(*batch.column(column));
}

}  // namespace

struct DroppedRowFinder::Rep {
  std::shared_ptr<FileIO> io;
  std::shared_ptr<const ReadPlan> positions;
  std::shared_ptr<const ReadPlan> last_updated;
  std::shared_ptr<DeleteCache> deletes;
};

Result<DroppedRowFinder> DroppedRowFinder::Make(std::shared_ptr<const TableMetadata> metadata,
                                                std::shared_ptr<FileIO> io, KeyShare share) {
  const Field position{.id = kRowPositionField, .name = "_pos", .type = Type::Of(TypeId::kLong)};
  const Field last_updated{.id = kLastUpdatedSequenceNumberField,
                           .name = "_last_updated_sequence_number",
                           .type = Type::Of(TypeId::kLong)};
  auto rep = std::make_unique<Rep>();
  rep->io = io;
  IW_ASSIGN(rep->positions, MakeReadPlan(metadata, Schema({position})));
  IW_ASSIGN(const auto plan, MakeReadPlan(std::move(metadata), Schema({position, last_updated})));
  const auto stored = std::make_shared<ReadPlan>(*plan);
  stored->stored_lineage = true;
  rep->last_updated = stored;
  rep->deletes = MakeDeleteCache(rep->positions, std::move(io), share);
  return DroppedRowFinder(std::move(rep));
}

DroppedRowFinder::DroppedRowFinder(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
DroppedRowFinder::DroppedRowFinder(DroppedRowFinder&&) noexcept = default;
DroppedRowFinder::~DroppedRowFinder() = default;

std::int64_t DroppedRowFinder::KeyMemory(const TableMetadata& metadata,
                                         const std::vector<FileTask>& tasks) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::unordered_set<const DeleteTask*> seen;
  std::int64_t bytes = 0;
  for (const FileTask& task : tasks) {
    for (const auto& deletes : task.deletes) {
      const DataFile& file = deletes->file;
      if (file.content != FileContent::kEqualityDeletes || !seen.insert(deletes.get()).second) {
        continue;
      }
      const auto columns = KeyColumns::Make(metadata, file.equality_ids);
      const bool integers = columns && columns->is_single_integer();
      const std::int64_t each = integers
                                    ? kIntegerKeyBytes
                                    : kByteKeyBytes + kColumnBytes * std::ssize(file.equality_ids);
      bytes += std::min(std::clamp<std::int64_t>(file.record_count, 0, kMost / each) * each, kMost);
      if (bytes > kMost) return kMost;
    }
  }
  return bytes;
}

Status DroppedRowFinder::LoadKeys(RunContext& run, const std::vector<FileTask>& tasks) const {
  return rep_->deletes->LoadEqualityDeletes(run, tasks);
}

Result<DroppedRows> DroppedRowFinder::Find(RunContext& run, const FileTask& task) const {
  IW_ASSIGN(auto reader,
            OpenTask(run, rep_->positions, rep_->io, rep_->deletes, task, MakePool(run)));
  Gaps gaps;
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) break;
    const arrow::Int64Array& kept = Integers(*batch, 0);
    for (std::int64_t i = 0; i < kept.length(); ++i) gaps.Keep(kept.Value(i));
  }
  const std::int64_t rows = reader->counts().rows_read;
  DroppedRows out{.positions = std::move(gaps).Finish(rows)};
  IW_ASSIGN(out.memory, run.memory().Reserve(BytesOf(out.positions), "positions of dropped rows"));
  IW_ASSIGN(const TaskDeletes deletes, rep_->deletes->Load(run, task));
  if (deletes.positions != nullptr) out.by_position = deletes.positions->bitmap.CountRange(0, rows);
  return out;
}

Result<DroppedRows> DroppedRowFinder::ByPosition(RunContext& run, const FileTask& task) const {
  FileTask without = task;
  std::erase_if(without.deletes, [](const std::shared_ptr<const DeleteTask>& deletes) {
    return deletes->file.content == FileContent::kEqualityDeletes;
  });
  IW_ASSIGN(const TaskDeletes deletes, rep_->deletes->Load(run, without));
  DroppedRows out;
  if (deletes.positions != nullptr) {
    const PositionBitmap& all = deletes.positions->bitmap;
    const std::int64_t rows = task.data_file.record_count;
    if (all.CountRange(0, rows) == all.cardinality()) {
      out.positions = all.Clone();
    } else {
      all.ForEach([&](std::int64_t position) {
        if (position < rows) out.positions.Add(position);
      });
    }
  }
  out.by_position = out.positions.cardinality();
  IW_ASSIGN(out.memory, run.memory().Reserve(BytesOf(out.positions), "positions of dropped rows"));
  return out;
}

Status DroppedRowFinder::VisitLastUpdated(RunContext& run, const FileTask& task,
                                          const PositionBitmap& rows, const VisitRow& visit) const {
  std::optional<SequenceNumber> inherited;
  if (task.file_sequence_number == task.sequence_number) inherited = task.sequence_number;
  FileTask all_rows = task;
  all_rows.deletes.clear();
  IW_ASSIGN(auto reader,
            OpenTask(run, rep_->last_updated, rep_->io, nullptr, all_rows, MakePool(run)));
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) return {};
    const arrow::Int64Array& positions = Integers(*batch, 0);
    const arrow::Int64Array& numbers = Integers(*batch, 1);
    for (std::int64_t i = 0; i < positions.length(); ++i) {
      if (!rows.Contains(positions.Value(i))) continue;
      IW_TRY(visit(positions.Value(i),
                   numbers.IsNull(i) ? inherited : SequenceNumber(numbers.Value(i))));
    }
  }
}

}  // namespace icewright
