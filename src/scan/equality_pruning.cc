#include "scan/equality_pruning.h"

#include <algorithm>

#include "table/literal.h"

namespace icewright::scan_internal {
namespace {

/// Bounds of these types are the smallest and largest values in the order of Compare. NaN is
/// outside the bounds of floats; Java once ordered UUIDs by signed bytes; geometry bounds are
/// boxes.
bool HasOrderedBounds(const Type& type) {
  switch (type.id()) {
    case TypeId::kUnknown:
    case TypeId::kFloat:
    case TypeId::kDouble:
    case TypeId::kUuid:
    case TypeId::kGeometry:
    case TypeId::kGeography:
    case TypeId::kVariant:
      return false;
    default:
      return type.is_primitive();
  }
}

std::optional<std::int64_t> CountOf(const ColumnCounts& counts, FieldId field) {
  const std::int64_t* count = FindColumn(counts, field);
  return count == nullptr ? std::nullopt : std::optional(*count);
}

Literal BoundOf(const ColumnBounds& bounds, const Field& field) {
  const Bytes* bytes = FindColumn(bounds, field.id);
  if (bytes == nullptr || !HasOrderedBounds(field.type)) return {};
  auto value = FromBytes(field.type, *bytes);
  return value ? *std::move(value) : Literal{};  // an odd bound prunes nothing
}

ColumnRange RangeOf(const DataFile& file, const Field& field) {
  return {.field = field.id,
          .values = CountOf(file.value_counts, field.id),
          .nulls = CountOf(file.null_value_counts, field.id),
          .lower = BoundOf(file.lower_bounds, field),
          .upper = BoundOf(file.upper_bounds, field)};
}

/// A count beats the schema: a column may have become required after nulls were written.
bool MayHaveNull(const EqualityColumns::One& column, const ColumnRange& range) {
  return range.nulls ? *range.nulls > 0 : !column.never_null;
}

bool AllNull(const ColumnRange& range) {
  return range.nulls && range.values && *range.nulls == *range.values;
}

bool Disjoint(const Type& type, const ColumnRange& a, const ColumnRange& b) {
  if (IsNull(a.lower) || IsNull(a.upper) || IsNull(b.lower) || IsNull(b.upper)) return false;
  return Compare(type, a.upper, b.lower) < 0 || Compare(type, b.upper, a.lower) < 0;
}

}  // namespace

EqualityColumns EqualityColumnsOf(const Schema& schema, const DataFile& delete_file) {
  EqualityColumns out;
  for (const FieldId id : delete_file.equality_ids) {
    const Field* field = schema.Find(id);
    if (field == nullptr || !field->type.is_primitive()) continue;
    // A required field inside an optional struct is null where the struct is.
    const bool never_null = field->required && schema.TopLevelOf(id) == field;
    out.columns.push_back(
        {.field = field, .never_null = never_null, .range = RangeOf(delete_file, *field)});
  }
  return out;
}

const ColumnRange& DataRanges::Of(const Field& field) {
  const auto it = std::ranges::find(known_, field.id, &ColumnRange::field);
  return it != known_.end() ? *it : known_.emplace_back(RangeOf(file_, field));
}

bool MayDelete(const EqualityColumns& deletes, DataRanges& data) {
  for (const EqualityColumns::One& column : deletes.columns) {
    const ColumnRange& range = data.Of(*column.field);
    const bool data_null = MayHaveNull(column, range);
    const bool delete_null = MayHaveNull(column, column.range);
    if (data_null && delete_null) continue;  // null equals null
    if (AllNull(range) && !delete_null) return false;
    if (AllNull(column.range) && !data_null) return false;
    if (Disjoint(column.field->type, range, column.range)) return false;
  }
  return true;
}

}  // namespace icewright::scan_internal
