#include "data/column_metrics.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "data/arrow_values.h"
#include "data/bounds.h"
#include "data/valid_runs.h"
#include "table/literal.h"
#include "table/schema.h"

namespace icewright {
namespace {

// Order of floats as integers: -0.0 before +0.0. Precondition: no NaN.
std::int64_t OrderedBits(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}
double FromOrderedBits(std::int64_t ordered) {
  return std::bit_cast<double>(ordered ^
                               ((ordered >> 63) & std::numeric_limits<std::int64_t>::max()));
}

// The first eight bytes as a number that sorts as the bytes do.
std::uint64_t PrefixOf(std::string_view text) {
  char raw[8] = {};
  std::memcpy(raw, text.data(), std::min<std::size_t>(text.size(), 8));
  std::uint64_t value = 0;
  std::memcpy(&value, raw, 8);
  return __builtin_bswap64(value);
}

// Smallest and largest of what it was shown.
struct IntRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  bool empty() const { return low > high; }

  template <typename T>
  void Add(const T* values, std::int64_t count) {
    T lo = std::numeric_limits<T>::max();
    T hi = std::numeric_limits<T>::min();
    for (std::int64_t i = 0; i < count; ++i) {
      lo = std::min(lo, values[i]);
      hi = std::max(hi, values[i]);
    }
    if (count > 0) {
      low = std::min<std::int64_t>(low, lo);
      high = std::max<std::int64_t>(high, hi);
    }
  }
};

struct TextRange {
  std::optional<std::string> low, high;
  std::uint64_t low_prefix = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t high_prefix = 0;

  void Add(std::string_view value) {
    const std::uint64_t prefix = PrefixOf(value);
    // Most values are settled by eight bytes.
    if (prefix > low_prefix && prefix < high_prefix) return;
    if (!low || value < *low) {
      low = value;
      low_prefix = prefix;
    }
    if (!high || value > *high) {
      high = value;
      high_prefix = prefix;
    }
  }
};

struct DecimalRange {
  std::optional<Int128> low, high;
  void Add(Int128 value) {
    if (!low || value < *low) low = value;
    if (!high || value > *high) high = value;
  }
};

}  // namespace

struct ColumnMetrics::Column {
  Field field;
  MetricsMode mode;
  std::vector<int> path;  // child indexes from the row down
  std::int64_t value_count = 0;
  std::int64_t nulls = 0;
  std::int64_t nans = 0;
  IntRange ints;    // also booleans and, by OrderedBits, floats
  TextRange texts;  // also fixed and uuid
  DecimalRange decimals;
  std::vector<bool> used;  // scratch: entries of a dictionary

  bool is_float() const {
    return field.type.id() == TypeId::kFloat || field.type.id() == TypeId::kDouble;
  }
  bool keeps_bounds() const {
    return mode.bounds() && field.type.id() != TypeId::kGeometry &&
           field.type.id() != TypeId::kGeography;
  }

  void Add(const arrow::Array& array);
  template <typename T>
  void AddFloats(const arrow::Array& array);
  template <typename T>
  void AddInts(const arrow::Array& array);
  void AddBooleans(const arrow::Array& array);
  void AddTexts(const arrow::Array& array);
  void AddDictionary(const arrow::DictionaryArray& array);
  void AddFixed(const arrow::Array& array);
  void AddDecimals(const arrow::Array& array);
  std::optional<std::pair<Bytes, std::optional<Bytes>>> Bounds() const;
};

template <typename T>
void ColumnMetrics::Column::AddInts(const arrow::Array& array) {
  const T* values = array.data()->GetValues<T>(1);
  VisitValidRuns(array,
                 [&](std::int64_t first, std::int64_t count) { ints.Add(values + first, count); });
}

template <typename T>
void ColumnMetrics::Column::AddFloats(const arrow::Array& array) {
  const T* values = array.data()->GetValues<T>(1);
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      if (std::isnan(values[i])) {
        ++nans;
        continue;
      }
      const std::int64_t ordered = OrderedBits(values[i]);
      ints.low = std::min(ints.low, ordered);
      ints.high = std::max(ints.high, ordered);
    }
  });
}

void ColumnMetrics::Column::AddBooleans(const arrow::Array& array) {
  const auto& booleans = static_cast<const arrow::BooleanArray&>(array);
  const std::int64_t valid = array.length() - array.null_count();
  const std::int64_t trues = booleans.true_count();
  const std::int64_t one = 1;
  const std::int64_t zero = 0;
  if (trues > 0) ints.Add(&one, 1);
  if (trues < valid) ints.Add(&zero, 1);
}

void ColumnMetrics::Column::AddTexts(const arrow::Array& array) {
  const auto& texts_array = static_cast<const arrow::BinaryArray&>(array);
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) texts.Add(texts_array.GetView(i));
  });
}

void ColumnMetrics::Column::AddDictionary(const arrow::DictionaryArray& array) {
  const auto& entries = static_cast<const arrow::BinaryArray&>(*array.dictionary());
  used.assign(static_cast<std::size_t>(entries.length()), false);
  const auto& indices = static_cast<const arrow::Int32Array&>(*array.indices());
  const std::int32_t* raw = indices.raw_values();
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i)
      used[static_cast<std::size_t>(raw[i])] = true;
  });
  for (std::int64_t i = 0; i < entries.length(); ++i) {
    if (used[static_cast<std::size_t>(i)]) texts.Add(entries.GetView(i));
  }
}

void ColumnMetrics::Column::AddFixed(const arrow::Array& array) {
  const auto& fixed = static_cast<const arrow::FixedSizeBinaryArray&>(array);
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) texts.Add(fixed.GetView(i));
  });
}

void ColumnMetrics::Column::AddDecimals(const arrow::Array& array) {
  const auto& fixed = static_cast<const arrow::FixedSizeBinaryArray&>(array);
  VisitValidRuns(array, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) {
      Int128 value = 0;
      std::memcpy(&value, fixed.GetValue(i), sizeof(value));
      decimals.Add(value);
    }
  });
}

void ColumnMetrics::Column::Add(const arrow::Array& array) {
  value_count += array.length();
  nulls += array.null_count();
  if (!keeps_bounds() && !is_float()) return;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return AddBooleans(array);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
      return AddInts<std::int32_t>(array);
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
      return AddInts<std::int64_t>(array);
    case arrow::Type::FLOAT:
      return AddFloats<float>(array);
    case arrow::Type::DOUBLE:
      return AddFloats<double>(array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return AddTexts(array);
    case arrow::Type::FIXED_SIZE_BINARY:
      return AddFixed(array);
    case arrow::Type::DECIMAL128:
      return AddDecimals(array);
    case arrow::Type::DICTIONARY:
      return AddDictionary(static_cast<const arrow::DictionaryArray&>(array));
    default:
      return;
  }
}

// Lower bound, and upper bound where there is one; unset without a value.
std::optional<std::pair<Bytes, std::optional<Bytes>>> ColumnMetrics::Column::Bounds() const {
  const Type& type = field.type;
  const auto both = [&](const Literal& low, const Literal& high) {
    return std::pair<Bytes, std::optional<Bytes>>(ToBytes(type, low), ToBytes(type, high));
  };
  if (decimals.low) return both(*decimals.low, *decimals.high);
  if (texts.low) {
    if (type.id() == TypeId::kUuid) return both(*texts.low, *texts.high);
    return std::pair(TruncatedLowerBound(type, *texts.low, mode.limit()),
                     TruncatedUpperBound(type, *texts.high, mode.limit()));
  }
  if (ints.empty()) return {};
  switch (type.id()) {
    case TypeId::kBoolean:
      return both(ints.low != 0, ints.high != 0);
    case TypeId::kInt:
    case TypeId::kDate:
      return both(static_cast<std::int32_t>(ints.low), static_cast<std::int32_t>(ints.high));
    case TypeId::kFloat:
      return both(static_cast<float>(FromOrderedBits(ints.low)),
                  static_cast<float>(FromOrderedBits(ints.high)));
    case TypeId::kDouble:
      return both(FromOrderedBits(ints.low), FromOrderedBits(ints.high));
    default:
      return both(ints.low, ints.high);
  }
}

namespace {

void CollectColumns(const std::vector<Field>& fields, std::vector<int>& path,
                    const std::function<void(const Field&)>& visit) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    if (fields[i].type.id() == TypeId::kStruct) {
      CollectColumns(fields[i].type.fields(), path, visit);
    } else if (!fields[i].type.is_nested() && fields[i].type.id() != TypeId::kUnknown) {
      visit(fields[i]);
    }
    path.pop_back();
  }
}

}  // namespace

ColumnMetrics::ColumnMetrics(const Schema& schema, const MetricsConfig& config) {
  std::vector<int> path;
  CollectColumns(schema.fields(), path, [&](const Field& field) {
    const MetricsMode mode = config.ModeOf(field.id);
    if (!mode.counts()) return;
    Column& column = columns_.emplace_back();
    column.field = field;
    column.mode = mode;
    column.path = path;
  });
  std::sort(columns_.begin(), columns_.end(),
            [](const Column& a, const Column& b) { return a.field.id < b.field.id; });
}

ColumnMetrics::~ColumnMetrics() = default;
ColumnMetrics::ColumnMetrics(ColumnMetrics&&) noexcept = default;

Status ColumnMetrics::Update(const arrow::RecordBatch& batch) {
  for (Column& column : columns_) {
    IW_ASSIGN(const auto array, ColumnAt(batch, column.path));
    column.Add(*array);
  }
  return {};
}

void ColumnMetrics::Finish(DataFile& file) const {
  for (const Column& column : columns_) {
    const FieldId id = column.field.id;
    file.value_counts.emplace_back(id, column.value_count);
    file.null_value_counts.emplace_back(id, column.nulls);
    if (column.is_float()) file.nan_value_counts.emplace_back(id, column.nans);
    if (!column.keeps_bounds()) continue;
    auto bounds = column.Bounds();
    if (!bounds) continue;
    file.lower_bounds.emplace_back(id, std::move(bounds->first));
    if (bounds->second) file.upper_bounds.emplace_back(id, std::move(*bounds->second));
  }
}

}  // namespace icewright
