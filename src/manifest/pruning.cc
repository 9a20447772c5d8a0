#include "manifest/pruning.h"

#include <algorithm>
#include <optional>

#include "table/predicate.h"

namespace icewright {
namespace {

using Op = Expression::Op;

/// What is known of the values of one column or partition field.
struct ValueFacts {
  bool may_be_null = true;
  bool may_be_nan = true;
  bool may_be_value = true;  ///< neither null nor NaN
  const Bytes* lower = nullptr;
  const Bytes* upper = nullptr;
};

bool IsFloating(const Type& type) {
  return type.id() == TypeId::kFloat || type.id() == TypeId::kDouble;
}

/// A bound as a value; unset if there is none or it cannot be trusted: undecodable, or NaN.
std::optional<Literal> BoundOf(const Type& type, const Bytes* bytes) {
  if (bytes == nullptr) return std::nullopt;
  auto value = FromBytes(type, *bytes);
  if (!value || IsNan(*value)) return std::nullopt;
  return *std::move(value);
}

/// The first half's top bits decide between Java's old, signed order of UUIDs and the unsigned one.
Literal SignedUuid(const Literal& value) {
  const auto* bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr || bytes->size() != 16) return value;
  std::string flipped = *bytes;
  flipped[0] = static_cast<char>(flipped[0] ^ 0x80);
  flipped[8] = static_cast<char>(flipped[8] ^ 0x80);
  return flipped;
}

bool IsBelow(const Literal& a, const Literal& b) { return OrderInPredicate(a, b) < 0; }

bool IsWithin(const Literal& value, const std::optional<Literal>& lower,
              const std::optional<Literal>& upper) {
  return !(lower && IsBelow(value, *lower)) && !(upper && IsBelow(*upper, value));
}

/// Bounds of UUIDs may have been taken by either order, so a value must be outside by both.
bool UuidIsWithin(const Literal& value, const std::optional<Literal>& lower,
                  const std::optional<Literal>& upper) {
  if (IsWithin(value, lower, upper)) return true;
  const auto flip = [](const std::optional<Literal>& bound) {
    return bound ? std::optional<Literal>(SignedUuid(*bound)) : std::nullopt;
  };
  return IsWithin(SignedUuid(value), flip(lower), flip(upper));
}

bool AnyIsWithin(const Expression& predicate, const ValueFacts& facts) {
  const Type& type = predicate.type();
  const auto lower = BoundOf(type, facts.lower);
  const auto upper = BoundOf(type, facts.upper);
  if (!lower && !upper) return true;
  const auto within = type.id() == TypeId::kUuid ? UuidIsWithin : IsWithin;
  const auto& literals = predicate.literals();
  return std::any_of(literals.begin(), literals.end(),
                     [&](const Literal& value) { return within(value, lower, upper); });
}

bool RangeMeets(const Expression& predicate, const ValueFacts& facts) {
  const Type& type = predicate.type();
  if (type.id() == TypeId::kUuid) return true;
  const bool downwards = predicate.op() == Op::kLt || predicate.op() == Op::kLtEq;
  // The value of the column that has the best chance to match.
  const auto extreme = BoundOf(type, downwards ? facts.lower : facts.upper);
  return !extreme || Matches(predicate.op(), predicate.literals(), *extreme);
}

/// Compares only as much as both have, because bounds may be truncated.
bool PrefixMeets(const std::string& prefix, const ValueFacts& facts) {
  const ByteView start = prefix;
  if (facts.lower != nullptr && ByteView(*facts.lower).substr(0, start.size()) > start) {
    return false;
  }
  return facts.upper == nullptr || ByteView(*facts.upper).substr(0, start.size()) >= start;
}

/// True unless everything between the bounds starts with the prefix.
bool PrefixIsMissed(const std::string& prefix, const ValueFacts& facts) {
  return facts.lower == nullptr || facts.upper == nullptr || !facts.lower->starts_with(prefix) ||
         !facts.upper->starts_with(prefix);
}

bool MayMatchPredicate(const Expression& predicate, const ValueFacts& facts) {
  switch (predicate.op()) {
    case Op::kIsNull:
      return facts.may_be_null;
    case Op::kNotNull:
      return facts.may_be_nan || facts.may_be_value;
    case Op::kIsNan:
      return facts.may_be_nan;
    case Op::kNotNan:
      return facts.may_be_value;
    case Op::kNotEq:
    case Op::kNotIn:
      // Equal bounds prove nothing: they may be wider than the values.
      return facts.may_be_nan || facts.may_be_value;
    case Op::kEq:
    case Op::kIn:
      return facts.may_be_value && AnyIsWithin(predicate, facts);
    case Op::kStartsWith:
    case Op::kNotStartsWith: {
      if (!facts.may_be_value) return false;
      const auto* prefix = std::get_if<std::string>(&predicate.literals()[0]);
      if (prefix == nullptr) return true;
      return predicate.op() == Op::kStartsWith ? PrefixMeets(*prefix, facts)
                                               : PrefixIsMissed(*prefix, facts);
    }
    default:
      return facts.may_be_value && RangeMeets(predicate, facts);
  }
}

/// Walks a filter; `facts_of(predicate)` tells what is known of the predicate's field.
template <typename FactsOf>
bool MayMatchFacts(const Expression& e, bool negated, const FactsOf& facts_of) {
  switch (e.op()) {
    case Op::kTrue:
      return !negated;
    case Op::kFalse:
      return negated;
    case Op::kNot:
      return MayMatchFacts(e.left(), !negated, facts_of);
    case Op::kAnd:
    case Op::kOr: {
      const bool any = (e.op() == Op::kOr) != negated;
      const bool first = MayMatchFacts(e.left(), negated, facts_of);
      return first == any ? first : MayMatchFacts(e.right(), negated, facts_of);
    }
    default:
      if (negated) {
        return MayMatchPredicate(
            Expression::Predicate(Negated(e.op()), e.field(), e.type(), e.literals()), facts_of(e));
      }
      return MayMatchPredicate(e, facts_of(e));
  }
}

std::optional<std::size_t> IndexOf(const PartitionSpec& spec, FieldId field) {
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (spec.fields[i].field_id == field) return i;
  }
  return std::nullopt;
}

ValueFacts FactsOf(const PartitionFieldSummary& summary, const Type& type) {
  ValueFacts facts;
  facts.may_be_null = summary.contains_null;
  facts.may_be_nan = IsFloating(type) && summary.contains_nan.value_or(true);
  // Without a lower bound all values are null or NaN, as the spec has it; unless there are said to
  // be none of either, when the writer must have left the bounds out.
  const bool explained = summary.contains_null || summary.contains_nan.value_or(false);
  facts.may_be_value = summary.lower_bound.has_value() || !explained;
  if (summary.lower_bound) facts.lower = &*summary.lower_bound;
  if (summary.upper_bound) facts.upper = &*summary.upper_bound;
  return facts;
}

/// A count of a column; unset if it is not known. Negative counts are some writers' "unknown".
std::optional<std::int64_t> CountOf(const ColumnCounts& counts, FieldId field) {
  const std::int64_t* count = FindColumn(counts, field);
  if (count == nullptr || *count < 0) return std::nullopt;
  return *count;
}

ValueFacts FactsOf(const DataFile& file, const Expression& predicate) {
  const FieldId field = predicate.field();
  const bool floating = IsFloating(predicate.type());
  const auto values = CountOf(file.value_counts, field);
  const auto nulls = CountOf(file.null_value_counts, field);
  const auto nans = floating ? CountOf(file.nan_value_counts, field) : std::int64_t{0};
  ValueFacts facts;
  facts.may_be_null = nulls != 0;
  // If all values are null none is NaN, whether NaNs were counted or not.
  facts.may_be_nan = nans != 0 && !(values && nulls && *values == *nulls);
  // Only an exact sum proves something; counts that contradict each other do not.
  facts.may_be_value = !values || *values != nulls.value_or(0) + nans.value_or(0);
  facts.lower = FindColumn(file.lower_bounds, field);
  facts.upper = FindColumn(file.upper_bounds, field);
  return facts;
}

}  // namespace

bool MayMatch(const Expression& partition_filter, const PartitionSpec& spec,
              const Type& /*partition_type*/, const ManifestFile& manifest) {
  if (!manifest.partitions) return true;
  const auto facts_of = [&](const Expression& predicate) {
    const auto index = IndexOf(spec, predicate.field());
    if (!index || *index >= manifest.partitions->size()) return ValueFacts();
    return FactsOf((*manifest.partitions)[*index], predicate.type());
  };
  return MayMatchFacts(partition_filter, false, facts_of);
}

bool MayMatch(const Expression& partition_filter, const PartitionSpec& spec,
              const StructValue& partition) {
  struct Tuple {
    const PartitionSpec& spec;
    const StructValue& values;
    bool incomplete = false;
  };
  Tuple tuple{spec, partition};
  // One captured pointer fits into std::function without an allocation.
  const bool matches = Evaluate(partition_filter, [&tuple](FieldId field) {
    const auto index = IndexOf(tuple.spec, field);
    if (index && *index < tuple.values.size()) return tuple.values[*index];
    tuple.incomplete = true;
    return Literal();
  });
  return matches || tuple.incomplete;
}

bool MayMatch(const Expression& filter, const Schema& /*schema*/, const DataFile& file) {
  if (file.record_count == 0) return false;
  return MayMatchFacts(filter, false,
                       [&file](const Expression& predicate) { return FactsOf(file, predicate); });
}

}  // namespace icewright
