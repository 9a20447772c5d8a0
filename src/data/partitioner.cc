#include "data/partitioner.h"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/arrow_values.h"
#include "table/field.h"

namespace icewright {
namespace {

constexpr std::size_t kRecentSources = 64 * 1024;

// Rows [first, first + 1, ...] need a slice only.
bool IsConsecutive(const std::vector<std::int64_t>& rows) {
  return rows.back() - rows.front() + 1 == static_cast<std::int64_t>(rows.size());
}

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(
    const std::shared_ptr<arrow::RecordBatch>& batch, const std::vector<std::int64_t>& rows,
    arrow::MemoryPool* pool) {
  if (static_cast<std::int64_t>(rows.size()) == batch->num_rows()) return batch;
  if (IsConsecutive(rows)) {
    return batch->Slice(rows.front(), static_cast<std::int64_t>(rows.size()));
  }
  const arrow::Int64Array indices(static_cast<std::int64_t>(rows.size()),
                                  arrow::Buffer::Wrap(rows));
  arrow::compute::ExecContext context(pool);
  IW_ASSIGN(arrow::Datum taken,
            FromArrow(arrow::compute::Take(batch, indices.data(),
                                           arrow::compute::TakeOptions::NoBoundsCheck(), &context),
                      "take rows of a partition"));
  return taken.record_batch();
}

}  // namespace

Result<PartitionColumn> PartitionColumn::Make(const Schema& schema, const PartitionField& field) {
  PartitionColumn column;
  column.transform_ = field.transform;
  if (field.transform.kind() == Transform::Kind::kVoid) return column;
  if (field.transform.kind() == Transform::Kind::kUnknown || field.source_ids.size() != 1) {
    return Error(Code::kUnsupported,
                 "partition field " + field.name + ": transform " + field.transform.text());
  }
  const Field* source = schema.Find(field.source_id());
  auto path = PathOfField(schema, field.source_id());
  if (source == nullptr || !path) {
    return Error(Code::kUnsupported, "partition field " + field.name +
                                         ": its source column is no longer in the schema");
  }
  column.source_ = source->type;
  column.path_ = std::move(*path);
  return column;
}

Result<std::uint32_t> PartitionColumn::CodeOfSource(const Literal& source) {
  const auto seen = recent_.find(source);
  if (seen != recent_.end()) return seen->second;
  IW_ASSIGN(Literal value, transform_.Apply(source_, source));
  const auto [it, added] = codes_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
  if (added) values_.push_back(std::move(value));
  if (recent_.size() >= kRecentSources) recent_.clear();
  recent_.emplace(source, it->second);
  return it->second;
}

Status PartitionColumn::Encode(const arrow::RecordBatch& batch, std::vector<std::uint32_t>& codes) {
  if (path_.empty()) {  // void: null for all
    if (values_.empty()) values_.emplace_back();
    codes.insert(codes.end(), static_cast<std::size_t>(batch.num_rows()), 0);
    return {};
  }
  IW_ASSIGN(const auto array, ColumnAt(batch, path_));
  Literal last;
  std::uint32_t last_code = 0;
  for (std::int64_t row = 0; row < array->length(); ++row) {
    IW_ASSIGN(Literal source, LiteralAt(*array, row));
    if (row == 0 || !SameValue(source, last)) {
      IW_ASSIGN(last_code, CodeOfSource(source));
      last = std::move(source);
    }
    codes.push_back(last_code);
  }
  return {};
}

std::size_t Partitioner::KeyHash::operator()(const std::vector<std::uint32_t>& key) const {
  std::size_t hash = key.size();
  for (const std::uint32_t code : key) hash = HashCombine(hash, code);
  return hash;
}

Result<Partitioner> Partitioner::Make(const Schema& schema, const PartitionSpec& spec) {
  Partitioner partitioner;
  for (const PartitionField& field : spec.fields) {
    IW_ASSIGN(PartitionColumn column, PartitionColumn::Make(schema, field));
    partitioner.columns_.push_back(std::move(column));
  }
  return partitioner;
}

std::vector<std::uint32_t> Partitioner::PartitionOfRows(
    std::int64_t rows, const std::vector<std::vector<std::uint32_t>>& codes) {
  std::vector<std::uint32_t> out;
  out.reserve(static_cast<std::size_t>(rows));
  std::vector<std::uint32_t> key(columns_.size());
  std::vector<std::uint32_t> last;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    for (std::size_t c = 0; c < key.size(); ++c) key[c] = codes[c][row];
    if (row > 0 && key == last) {
      out.push_back(out.back());
      continue;
    }
    const auto [it, added] =
        by_codes_.try_emplace(key, static_cast<std::uint32_t>(partitions_.size()));
    if (added) {
      StructValue& tuple = partitions_.emplace_back();
      for (std::size_t c = 0; c < key.size(); ++c) tuple.push_back(columns_[c].ValueOf(key[c]));
    }
    out.push_back(it->second);
    last = key;
  }
  return out;
}

Result<std::vector<PartitionedRows>> Partitioner::Split(
    const std::shared_ptr<arrow::RecordBatch>& batch, arrow::MemoryPool* pool) {
  std::vector<std::vector<std::uint32_t>> codes(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    codes[c].reserve(static_cast<std::size_t>(batch->num_rows()));
    IW_TRY(columns_[c].Encode(*batch, codes[c]));
  }
  const auto partition_of = PartitionOfRows(batch->num_rows(), codes);
  std::vector<PartitionedRows> parts;
  std::vector<std::vector<std::int64_t>> rows;
  std::unordered_map<std::uint32_t, std::size_t> part_of;
  for (std::size_t row = 0; row < partition_of.size(); ++row) {
    const auto [it, added] = part_of.try_emplace(partition_of[row], parts.size());
    if (added) {
      parts.push_back({.partition = partition_of[row], .rows = nullptr});
      rows.emplace_back();
    }
    rows[it->second].push_back(static_cast<std::int64_t>(row));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    IW_ASSIGN(parts[i].rows, TakeRows(batch, rows[i], pool));
  }
  return parts;
}

}  // namespace icewright
