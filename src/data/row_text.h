#pragma once

/// \file data/row_text.h
/// The text of a row that digests are made of.
///
/// Format: docs/row-digest.md.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "table/field.h"

namespace icewright {

/// Texts of one column of one batch. Borrows the array. Immutable.
class ColumnText {
 public:
  /// Precondition: the array has the Arrow type of `type` (data/arrow_schema.h).
  ColumnText(const Type& type, const arrow::ArrayData& array);

  void Append(std::int64_t row, std::string& out) const;

 private:
  void AppendValue(std::int64_t at, std::string& out) const;
  /// Offsets of a string, list or map.
  std::pair<std::int32_t, std::int32_t> RangeAt(std::int64_t at) const;
  void AppendBytes(std::int64_t at, std::string& out) const;
  void AppendStruct(std::int64_t at, std::string& out) const;
  void AppendList(std::int64_t at, std::string& out) const;
  void AppendMap(std::int64_t at, std::string& out) const;

  Type type_;
  std::int64_t offset_;
  const std::uint8_t* validity_;
  const std::uint8_t* values_;
  const std::uint8_t* bytes_;
  std::vector<ColumnText> children_;
};

/// Texts of all columns of a batch, joined by '|'.
class RowText {
 public:
  /// `fields`: of the batch's first columns.
  RowText(const std::vector<Field>& fields, const arrow::RecordBatch& batch);

  /// Columns [first, last) of a row: appended with '|' between them.
  void Append(std::int64_t row, std::size_t first, std::size_t last, std::string& out) const;

 private:
  std::vector<ColumnText> columns_;
};

}  // namespace icewright
