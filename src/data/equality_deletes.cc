#include <arrow/array.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/delete_cache.h"
#include "data/projected_file.h"

namespace icewright {
namespace {

/// How many look-ups ahead memory is asked for.
constexpr std::int64_t kAhead = 16;
constexpr std::int64_t kBlock = 64;

/// Keys of some rows as bytes, with their hashes.
class KeyBlock {
 public:
  static constexpr std::int64_t kRows = 128;

  void Fill(const KeyRows& rows, std::int64_t first, std::int64_t count) {
    bytes_.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      starts_[i] = bytes_.size();
      rows.Encode(first + i, bytes_);
    }
    starts_[count] = bytes_.size();
    for (std::int64_t i = 0; i < count; ++i) hashes_[i] = ByteKeySet::Hash(key(i));
  }
  ByteView key(std::int64_t i) const {
    return ByteView(bytes_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  std::uint64_t hash(std::int64_t i) const { return hashes_[i]; }

 private:
  Bytes bytes_;
  std::size_t starts_[kRows + 1];
  std::uint64_t hashes_[kRows];
};

/// Calls visit(row, key, hash) for each row, with the set's memory on its way.
template <typename Visit>
Status ForEachKey(const KeyRows& rows, std::int64_t count, const ByteKeySet& set, Visit visit) {
  KeyBlock block;
  for (std::int64_t first = 0; first < count; first += KeyBlock::kRows) {
    const std::int64_t size = std::min(KeyBlock::kRows, count - first);
    block.Fill(rows, first, size);
    for (std::int64_t i = 0; i < size; ++i) set.Prefetch(block.hash(i));
    for (std::int64_t i = 0; i < size; ++i) {
      IW_TRY(visit(first + i, block.key(i), block.hash(i)));
    }
  }
  return {};
}

}  // namespace

void EqualityGroup::Expect(std::int64_t keys) {
  const std::unique_lock lock(mutex_);
  const auto share = static_cast<std::size_t>(std::max<std::int64_t>(keys, 0)) / share_.count;
  // If there is no room for all of them now, the table grows as they come.
  (void)(keys_.is_single_integer() ? integers_.Reserve(share) : bytes_.Reserve(share));
}

Status EqualityGroup::Load(RunContext& run, FileIO& io, const ReadPlan& plan,
                           const DeleteTask& task) {
  const std::string& path = task.file.file_path.text();
  {
    std::unique_lock lock(load_mutex_);
    load_ended_.wait(lock, [&] { return !loading_.contains(path); });
    if (loaded_.contains(path)) return {};
    loading_.insert(path);
  }
  const Status status = Read(run, io, plan, task);
  const std::scoped_lock lock(load_mutex_);
  loading_.erase(path);
  if (status) loaded_.insert(path);
  load_ended_.notify_all();
  return status;
}

Status EqualityGroup::Read(RunContext& run, FileIO& io, const ReadPlan& plan,
                           const DeleteTask& task) {
  ProjectedFileOptions options{.wanted = keys_.fields(),
                               .name_mapping = plan.name_mapping,
                               .schema = plan.metadata->schema(),
                               .batch_rows = plan.batch_rows,
                               .all_required = true};
  IW_ASSIGN(ProjectedFile reader,
            ProjectedFile::Open(run, io, task.file, std::move(options), MakePool(run)));
  for (;;) {
    IW_ASSIGN(std::optional<SourceBatch> batch, reader.Next(run));
    if (!batch) break;
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (std::size_t i = 0; i < keys_.fields().size(); ++i) {
      IW_ASSIGN(auto column, reader.Column(i, *batch));
      columns.push_back(std::move(column));
    }
    IW_TRY(Add(KeyRows(keys_, columns), batch->rows, task.sequence_number).Within(reader.step()));
  }
  return {};
}

Status EqualityGroup::Add(const KeyRows& rows, std::int64_t count, SequenceNumber sequence_number) {
  const std::unique_lock lock(mutex_);
  if (!keys_.is_single_integer()) {
    return ForEachKey(rows, count, bytes_,
                      [&](std::int64_t, ByteView key, std::uint64_t hash) -> Status {
                        if (!share_.Holds(hash)) return {};
                        return bytes_.Add(key, hash, sequence_number);
                      });
  }
  for (std::int64_t row = 0; row < count; ++row) {
    if (row + kAhead < count) integers_.Prefetch(rows.Integer(row + kAhead));
    if (rows.IsNull(row)) {
      // In every share: it costs nothing.
      null_deleted_by_ = std::max(null_deleted_by_.value_or(sequence_number), sequence_number);
    } else if (share_.Holds(IntegerKeySet::Hash(rows.Integer(row)))) {
      IW_TRY(integers_.Add(rows.Integer(row), sequence_number));
    }
  }
  return {};
}

Status EqualityGroup::Apply(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                            SequenceNumber sequence_number, Selection& selection) const {
  const std::shared_lock lock(mutex_);
  const KeyRows rows(keys_, columns);
  const std::int64_t count = selection.rows();
  if (!keys_.is_single_integer()) {
    return ForEachKey(rows, count, bytes_,
                      [&](std::int64_t row, ByteView key, std::uint64_t hash) -> Status {
                        if (!share_.Holds(hash)) return {};
                        if (bytes_.Deletes(key, hash, sequence_number)) selection.Drop(row);
                        return {};
                      });
  }
  ApplyIntegers(rows, sequence_number, selection);
  return {};
}

std::shared_ptr<const KeyFilter> EqualityGroup::Filter() const {
  constexpr std::size_t kTextAt = 1 + sizeof(std::int32_t);  // as KeyRows::Encode writes it
  const auto column = keys_.single();
  if (!column) return nullptr;
  auto filter = std::make_shared<KeyFilter>(KeyFilter{.column = column->id});
  const std::shared_lock lock(mutex_);
  switch (column->type) {
    case TypeId::kInt:
    case TypeId::kLong:
      if (null_deleted_by_ || integers_.size() > kMostFilterKeys) return nullptr;
      filter->integers = integers_.Keys();
      break;
    case TypeId::kString:
    case TypeId::kBinary:
      if (bytes_.size() > kMostFilterKeys) return nullptr;
      for (const ByteView key : bytes_.Keys()) {
        if (key.size() < kTextAt) return nullptr;  // null
        filter->texts.emplace_back(key.substr(kTextAt));
      }
      break;
    default:
      return nullptr;
  }
  std::ranges::sort(filter->integers);
  std::ranges::sort(filter->texts);
  return filter;
}

void EqualityGroup::ApplyIntegers(const KeyRows& rows, SequenceNumber sequence_number,
                                  Selection& out) const {
  const bool drop_nulls = null_deleted_by_ && *null_deleted_by_ > sequence_number;
  const std::int64_t count = out.rows();
  for (std::int64_t first = 0; first < count; first += kBlock) {
    // The memory of a block of keys is on its way before the first of them is compared.
    const std::int64_t end = std::min(first + kBlock, count);
    std::int64_t keys[kBlock];
    std::int64_t places[kBlock];
    int found = 0;
    for (std::int64_t row = first; row < end; ++row) {
      if (rows.IsNull(row)) {
        if (drop_nulls) out.Drop(row);
        continue;
      }
      const std::int64_t key = rows.Integer(row);
      if (share_.count > 1 && !share_.Holds(IntegerKeySet::Hash(key))) continue;
      integers_.Prefetch(key);
      keys[found] = key;
      places[found++] = row;
    }
    for (int i = 0; i < found; ++i) {
      if (integers_.Deletes(keys[i], sequence_number)) out.Drop(places[i]);
    }
  }
}

}  // namespace icewright
