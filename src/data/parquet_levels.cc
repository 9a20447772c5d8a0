#include "data/parquet_levels.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>

#include <optional>

#include "data/arrow_bridge.h"

namespace icewright {
namespace {

// Levels on the way down to a leaf. An entry with a definition level of at least `slot_level` has a
// slot in the array at hand, in order; one that equals `level` is not null so far.
struct Levels {
  std::vector<std::int16_t> definition;
  std::vector<std::int16_t> repetition;
  std::int16_t level = 0;
  std::int16_t slot_level = 0;
  std::int16_t repeat_level = 0;
};

Levels RowLevels(const arrow::Array& array) {
  Levels levels;
  levels.definition.assign(static_cast<std::size_t>(array.length()), 0);
  return levels;
}

// Raises the level of entries whose slot is valid.
void AddOptional(Levels& levels, const arrow::Array& array) {
  std::int64_t slot = 0;
  for (std::int16_t& definition : levels.definition) {
    if (definition < levels.slot_level) continue;
    if (definition == levels.level && array.IsValid(slot)) ++definition;
    ++slot;
  }
  ++levels.level;
}

// A required column may be null only where something above it is.
Status CheckRequired(const Levels& levels, const Field& field, const arrow::Array& array) {
  std::int64_t slot = 0;
  for (const std::int16_t definition : levels.definition) {
    if (definition < levels.slot_level) continue;
    if (definition == levels.level && array.IsNull(slot)) {
      return Error(Code::kCorrupt, "required column " + field.name + " has nulls");
    }
    ++slot;
  }
  return {};
}

// The same values without the nulls that come from above: Parquet's writer takes those from the
// levels.
std::shared_ptr<arrow::Array> WithoutNulls(const arrow::Array& array) {
  const auto data = array.data()->Copy();
  data->buffers[0] = nullptr;
  data->null_count = 0;
  return arrow::MakeArray(data);
}

// Elements of lists as ranges of the child array.
struct ElementRanges {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // start, length

  void Add(std::int64_t start, std::int64_t length) {
    if (length == 0) return;
    if (!ranges.empty() && ranges.back().first + ranges.back().second == start) {
      ranges.back().second += length;
    } else {
      ranges.emplace_back(start, length);
    }
  }

  Result<std::shared_ptr<arrow::Array>> Gather(const std::shared_ptr<arrow::Array>& values,
                                               arrow::MemoryPool* pool) const {
    if (ranges.empty()) return values->Slice(0, 0);
    if (ranges.size() == 1) return values->Slice(ranges[0].first, ranges[0].second);
    arrow::ArrayVector parts;
    for (const auto& [start, length] : ranges) parts.push_back(values->Slice(start, length));
    return FromArrow(arrow::Concatenate(parts, pool), "gather list elements");
  }
};

// Descends into lists. `array` is a ListArray or MapArray.
Levels EnterList(const Levels& above, const arrow::ListArray& array, ElementRanges& elements) {
  Levels below;
  below.level = static_cast<std::int16_t>(above.level + 1);
  below.slot_level = below.level;
  below.repeat_level = static_cast<std::int16_t>(above.repeat_level + 1);
  std::int64_t slot = 0;
  for (std::size_t i = 0; i < above.definition.size(); ++i) {
    const std::int16_t repetition = above.repetition.empty() ? 0 : above.repetition[i];
    const std::int16_t definition = above.definition[i];
    const bool has_slot = definition >= above.slot_level;
    const std::int64_t at = has_slot ? slot++ : 0;
    const std::int64_t length = has_slot && definition == above.level ? array.value_length(at) : 0;
    if (length == 0) {
      below.definition.push_back(definition);
      below.repetition.push_back(repetition);
      continue;
    }
    elements.Add(array.value_offset(at), length);
    below.definition.insert(below.definition.end(), static_cast<std::size_t>(length), below.level);
    below.repetition.push_back(repetition);
    below.repetition.insert(below.repetition.end(), static_cast<std::size_t>(length - 1),
                            below.repeat_level);
  }
  return below;
}

std::size_t CountLeaves(const Field& field) {
  if (field.type.id() == TypeId::kUnknown) return 0;
  if (!field.type.is_nested()) return 1;
  std::size_t leaves = 0;
  for (const Field& child : field.type.fields()) leaves += CountLeaves(child);
  return leaves;
}

class Walk {
 public:
  // Visits all leaves, or the one of this number.
  Walk(arrow::MemoryPool* pool, std::optional<std::size_t> only,
       const std::function<Status(const LeafLevels&)>& visit)
      : pool_(pool), only_(only), visit_(visit) {}

  Status Visit(const Field& field, const std::shared_ptr<arrow::Array>& array, Levels levels) {
    const bool hides_nulls = field.required && array->null_count() > 0;
    if (hides_nulls) IW_TRY(CheckRequired(levels, field, *array));
    if (!field.required) AddOptional(levels, *array);
    switch (field.type.id()) {
      case TypeId::kStruct:
        return VisitStruct(field, *array, levels);
      case TypeId::kList:
      case TypeId::kMap:
        return VisitRepeated(field, *array, levels);
      default:
        ++passed_;
        return visit_({.definition = std::move(levels.definition),
                       .repetition = std::move(levels.repetition),
                       .values = hides_nulls ? WithoutNulls(*array) : array,
                       .nullable = !field.required});
    }
  }

 private:
  Status VisitStruct(const Field& field, const arrow::Array& array, const Levels& levels) {
    const auto& rows = static_cast<const arrow::StructArray&>(array);
    for (std::size_t i = 0; i < field.type.fields().size(); ++i) {
      if (PassesBy(field.type.fields()[i])) continue;
      IW_TRY(Visit(field.type.fields()[i], rows.field(static_cast<int>(i)), levels));
    }
    return {};
  }

  Status VisitRepeated(const Field& field, const arrow::Array& array, const Levels& levels) {
    const auto& lists = static_cast<const arrow::ListArray&>(array);
    ElementRanges elements;
    const Levels below = EnterList(levels, lists, elements);
    if (field.type.id() == TypeId::kList) {
      if (PassesBy(field.type.fields()[0])) return {};
      IW_ASSIGN(const auto values, elements.Gather(lists.values(), pool_));
      return Visit(field.type.fields()[0], values, below);
    }
    const auto& maps = static_cast<const arrow::MapArray&>(array);
    if (!PassesBy(field.type.fields()[0])) {
      IW_ASSIGN(const auto keys, elements.Gather(maps.keys(), pool_));
      IW_TRY(Visit(field.type.fields()[0], keys, below));
    }
    if (PassesBy(field.type.fields()[1])) return {};
    IW_ASSIGN(const auto values, elements.Gather(maps.items(), pool_));
    return Visit(field.type.fields()[1], values, below);
  }

  // True if nothing below `field` is wanted.
  bool PassesBy(const Field& field) {
    const std::size_t leaves = CountLeaves(field);
    if (leaves > 0 && (!only_ || (*only_ >= passed_ && *only_ < passed_ + leaves))) return false;
    passed_ += leaves;
    return true;
  }

  arrow::MemoryPool* pool_;
  const std::optional<std::size_t> only_;
  std::size_t passed_ = 0;  // leaves
  const std::function<Status(const LeafLevels&)>& visit_;
};

}  // namespace

Status VisitLeaves(const Field& field, const std::shared_ptr<arrow::Array>& array,
                   arrow::MemoryPool* pool, const std::function<Status(const LeafLevels&)>& visit) {
  if (field.type.id() == TypeId::kUnknown) return {};
  return Walk(pool, {}, visit).Visit(field, array, RowLevels(*array));
}

Status VisitLeaf(const Field& field, std::size_t leaf, const std::shared_ptr<arrow::Array>& array,
                 arrow::MemoryPool* pool, const std::function<Status(const LeafLevels&)>& visit) {
  return Walk(pool, leaf, visit).Visit(field, array, RowLevels(*array));
}

}  // namespace icewright
