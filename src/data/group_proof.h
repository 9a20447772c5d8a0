#pragma once

/// \file data/group_proof.h
/// Evidence that the rows written are the rows read, whatever their order and files.
///
/// One side adds batches as they pass the deletes, the other as they reach a writer (or as they are
/// read back); the two must agree.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/schema.h"

namespace icewright {

/// Per column: values, nulls and a sum modulo 2^64 (integers and dates; bits of floats; low bits of
/// decimals; lengths of strings, binary, lists and maps). Cost: a pass at memory speed.
/// Single-threaded.
class ColumnSums {
 public:
  /// Precondition: the batch has the schema's Arrow schema; strings and binary may be dictionaries.
  Status Add(const Schema& schema, const arrow::RecordBatch& batch);
  void Add(const ColumnSums& other);

  std::int64_t rows() const { return rows_; }

  /// Errors: kInternal, naming the first column that differs and both numbers.
  Status CheckSame(const ColumnSums& written) const;

  struct Column {
    std::string name;
    std::int64_t values = 0;
    std::int64_t nulls = 0;
    std::uint64_t sum = 0;
  };
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::int64_t rows_ = 0;
  std::vector<Column> columns_;  // in the order of a walk through the schema
};

/// Sum modulo 2^64 of a 64-bit hash of every row: all values of all columns count, the order of
/// rows does not. Null, empty and absent differ; floats count by their bits.
class RowHashSum {
 public:
  Status Add(const arrow::RecordBatch& batch);
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// The hash of each row, as RowHashSum adds it up.
Result<std::vector<std::uint64_t>> HashRows(const arrow::RecordBatch& batch);

}  // namespace icewright
