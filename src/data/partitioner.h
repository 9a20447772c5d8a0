#pragma once

/// \file data/partitioner.h
/// Splits batches by partition: which rows belong to which tuple of partition values.
///
/// Spec: "Partitioning".   Java twin: PartitionKey.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "table/literal.h"
#include "table/partition_spec.h"
#include "table/schema.h"

namespace icewright {

/// Result of one transform, row by row, as codes of distinct values. Single-threaded.
class PartitionColumn {
 public:
  /// Errors: kUnsupported for an unknown transform or a source that the schema no longer has.
  static Result<PartitionColumn> Make(const Schema& schema, const PartitionField& field);

  /// Appends one code per row to `codes`.
  Status Encode(const arrow::RecordBatch& batch, std::vector<std::uint32_t>& codes);
  const Literal& ValueOf(std::uint32_t code) const { return values_[code]; }

 private:
  struct LiteralHash {
    std::size_t operator()(const Literal& value) const { return HashOf(value); }
  };
  struct LiteralEqual {
    bool operator()(const Literal& a, const Literal& b) const { return SameValue(a, b); }
  };
  Result<std::uint32_t> CodeOfSource(const Literal& source);

  Transform transform_;
  Type source_;
  std::vector<int> path_;  // child indexes from the row down; empty for void
  std::vector<Literal> values_;
  std::unordered_map<Literal, std::uint32_t, LiteralHash, LiteralEqual> codes_;
  /// Sources seen lately, so that repeated values are not transformed again; bounded.
  std::unordered_map<Literal, std::uint32_t, LiteralHash, LiteralEqual> recent_;
};

/// Rows of one batch that share a partition.
struct PartitionedRows {
  std::size_t partition = 0;  ///< index into Partitioner::partitions()
  std::shared_ptr<arrow::RecordBatch> rows;
};

/// Single-threaded.
class Partitioner {
 public:
  /// Errors: as PartitionColumn::Make.
  static Result<Partitioner> Make(const Schema& schema, const PartitionSpec& spec);

  /// One part per partition of the batch, in order of first appearance; rows keep their order. A
  /// batch of one partition is not copied.
  Result<std::vector<PartitionedRows>> Split(const std::shared_ptr<arrow::RecordBatch>& batch,
                                             arrow::MemoryPool* pool);

  /// Tuples seen so far.
  const std::vector<StructValue>& partitions() const { return partitions_; }

 private:
  struct KeyHash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const;
  };
  std::vector<std::uint32_t> PartitionOfRows(std::int64_t rows,
                                             const std::vector<std::vector<std::uint32_t>>& codes);

  std::vector<PartitionColumn> columns_;
  std::vector<StructValue> partitions_;
  std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, KeyHash> by_codes_;
};

}  // namespace icewright
