#pragma once

/// \file data/array_filter.h
/// Keeps chosen rows of an array.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace icewright {

/// Rows [start, start + length).
struct RowRun {
  std::int64_t start = 0;
  std::int64_t length = 0;
};

/// Kept rows as ascending runs with gaps between them; what row-wise tests of a batch add up to.
class Selection {
 public:
  /// Everything.
  explicit Selection(std::int64_t rows) : rows_(rows), kept_(rows), keep_(0) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t kept() const { return kept_; }
  bool all() const { return kept_ == rows_; }

  bool Keeps(std::int64_t row) const {
    return keep_.empty() || keep_[static_cast<std::size_t>(row)] != 0;
  }
  void Drop(std::int64_t row);
  void DropAll();
  std::vector<RowRun> Runs() const;

 private:
  std::int64_t rows_;
  std::int64_t kept_;
  std::vector<char> keep_;  // empty: all are kept
};

/// A new array of the rows in `runs`. Cost: one copy per run and buffer. Types: those of
/// data/arrow_schema.h. Errors: kExhausted, kUnsupported.
Result<std::shared_ptr<arrow::ArrayData>> KeepRuns(const arrow::ArrayData& in,
                                                   std::span<const RowRun> runs,
                                                   arrow::MemoryPool* pool);

}  // namespace icewright
