#include "data/group_proof.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/arrow_bridge.h"
#include "data/valid_runs.h"
#include "table/field.h"

namespace icewright {
namespace {

template <typename T>
std::uint64_t SumOf(const arrow::Array& array) {
  const T* values = array.data()->GetValues<T>(1);
  std::uint64_t sum = 0;
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i]));
    }
  });
  return sum;
}

// Lengths of strings, binary, lists and maps.
std::uint64_t SumOfLengths(const arrow::Array& array) {
  const std::int32_t* offsets = array.data()->GetValues<std::int32_t>(1);
  std::uint64_t sum = 0;
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    sum += static_cast<std::uint64_t>(offsets[first + count] - offsets[first]);
  });
  return sum;
}

std::uint64_t SumOfDictionary(const arrow::DictionaryArray& array) {
  const std::int32_t* offsets = array.dictionary()->data()->GetValues<std::int32_t>(1);
  const std::int32_t* indices = array.indices()->data()->GetValues<std::int32_t>(1);
  std::uint64_t sum = 0;
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      sum += static_cast<std::uint64_t>(offsets[indices[i] + 1] - offsets[indices[i]]);
    }
  });
  return sum;
}

// The first eight bytes of each value, or all of a shorter one.
std::uint64_t SumOfFixed(const arrow::FixedSizeBinaryArray& array) {
  const auto width = static_cast<std::size_t>(array.byte_width());
  std::uint64_t sum = 0;
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      std::uint64_t part = 0;
      std::memcpy(&part, array.GetValue(i), std::min<std::size_t>(width, sizeof(part)));
      sum += part;
    }
  });
  return sum;
}

std::uint64_t SumOfValues(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return static_cast<std::uint64_t>(
          static_cast<const arrow::BooleanArray&>(array).true_count());
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::FLOAT:
      return SumOf<std::int32_t>(array);
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DOUBLE:
      return SumOf<std::int64_t>(array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return SumOfLengths(array);
    case arrow::Type::FIXED_SIZE_BINARY:
    case arrow::Type::DECIMAL128:
      return SumOfFixed(static_cast<const arrow::FixedSizeBinaryArray&>(array));
    case arrow::Type::DICTIONARY:
      return SumOfDictionary(static_cast<const arrow::DictionaryArray&>(array));
    default:
      return 0;
  }
}

// Elements that are visible: not those that a null list hides.
Result<std::shared_ptr<arrow::Array>> VisibleElements(const arrow::Array& array) {
  return FromArrow(static_cast<const arrow::ListArray&>(array).Flatten(), "flatten list");
}

class SumWalk {
 public:
  explicit SumWalk(std::vector<ColumnSums::Column>& columns) : columns_(columns) {}

  Status Visit(const Field& field, const std::string& prefix, const arrow::Array& array) {
    if (next_ == columns_.size()) columns_.push_back({.name = prefix + field.name});
    ColumnSums::Column& column = columns_[next_++];
    column.values += array.length();
    column.nulls += array.null_count();
    column.sum += SumOfValues(array);
    const std::vector<Field>& children = field.type.fields();
    if (field.type.id() == TypeId::kStruct) {
      const auto& rows = static_cast<const arrow::StructArray&>(array);
      return VisitFields(children, prefix + field.name + ".", rows);
    }
    if (field.type.id() == TypeId::kList) {
      IW_ASSIGN(const auto elements, VisibleElements(array));
      return Visit(children[0], prefix + field.name + ".", *elements);
    }
    if (field.type.id() == TypeId::kMap) {
      IW_ASSIGN(const auto entries, VisibleElements(array));
      return VisitFields(children, prefix + field.name + ".",
                         static_cast<const arrow::StructArray&>(*entries));
    }
    return {};
  }

 private:
  Status VisitFields(const std::vector<Field>& fields, const std::string& prefix,
                     const arrow::StructArray& rows) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      IW_ASSIGN(const auto child,
                FromArrow(rows.GetFlattenedField(static_cast<int>(i)), "flatten struct"));
      IW_TRY(Visit(fields[i], prefix, *child));
    }
    return {};
  }

  std::vector<ColumnSums::Column>& columns_;
  std::size_t next_ = 0;
};

}  // namespace

Status ColumnSums::Add(const Schema& schema, const arrow::RecordBatch& batch) {
  rows_ += batch.num_rows();
  SumWalk walk(columns_);
  for (int i = 0; i < batch.num_columns(); ++i) {
    IW_TRY(walk.Visit(schema.fields()[static_cast<std::size_t>(i)], "", *batch.column(i)));
  }
  return {};
}

void ColumnSums::Add(const ColumnSums& other) {
  rows_ += other.rows_;
  if (columns_.empty()) {
    columns_ = other.columns_;
    return;
  }
  for (std::size_t i = 0; i < other.columns_.size(); ++i) {
    columns_[i].values += other.columns_[i].values;
    columns_[i].nulls += other.columns_[i].nulls;
    columns_[i].sum += other.columns_[i].sum;
  }
}

Status ColumnSums::CheckSame(const ColumnSums& written) const {
  const auto differ = [](const std::string& what, auto read, auto wrote) {
    return Error(Code::kInternal,
                 fmt::format("what was written is not what was read: {}: {} read, {} written", what,
                             read, wrote));
  };
  if (rows_ != written.rows_) return differ("rows", rows_, written.rows_);
  if (rows_ == 0) return {};
  if (columns_.size() != written.columns_.size()) {
    return differ("columns", columns_.size(), written.columns_.size());
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& a = columns_[i];
    const Column& b = written.columns_[i];
    if (a.values != b.values) return differ("values of " + a.name, a.values, b.values);
    if (a.nulls != b.nulls) return differ("nulls of " + a.name, a.nulls, b.nulls);
    if (a.sum != b.sum) return differ("sum of " + a.name, a.sum, b.sum);
  }
  return {};
}

}  // namespace icewright
