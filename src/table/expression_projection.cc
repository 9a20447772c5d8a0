#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "table/expression.h"
#include "table/predicate.h"

namespace icewright {
namespace {

using Op = Expression::Op;
using Kind = Transform::Kind;

enum class Mode : std::uint8_t {
  kInclusive,  ///< true if a row of the partition may match
  kStrict,     ///< true only if all rows of the partition match
};

/// What to use where a transform tells nothing.
Expression Unknown(Mode mode) {
  return mode == Mode::kInclusive ? Expression::True() : Expression::False();
}

/// One predicate seen through one partition field.
struct Projection {
  const Expression& predicate;
  const PartitionField& field;
  Mode mode;

  Kind kind() const { return field.transform.kind(); }
  Op op() const { return predicate.op(); }
  const Literal& literal() const { return predicate.literals()[0]; }

  /// The transformed literal; unset if the transform does not take it.
  std::optional<Literal> Apply(const Literal& value) const {
    auto result = field.transform.Apply(predicate.type(), value);
    if (!result || IsNull(*result)) return std::nullopt;
    return *std::move(result);
  }

  Expression On(Op partition_op, std::vector<Literal> literals = {}) const {
    return Expression::Predicate(partition_op, field.field_id,
                                 field.transform.ResultType(predicate.type()), std::move(literals));
  }

  Expression OnTransformed(Op partition_op, const Literal& value) const {
    auto result = Apply(value);
    if (!result) return Unknown(mode);
    return On(partition_op, {*std::move(result)});
  }

  Expression OnAllTransformed(Op partition_op) const {
    std::vector<Literal> values;
    for (const Literal& value : predicate.literals()) {
      auto result = Apply(value);
      if (!result) return Unknown(mode);
      values.push_back(*std::move(result));
    }
    return On(partition_op, std::move(values));
  }
};

/// The neighbour of a whole number; unset at the end of its range.
template <typename Int>
std::optional<Literal> Neighbour(Int value, int step, Int least, Int most) {
  if (step < 0 ? value == least : value == most) return std::nullopt;
  return Literal(static_cast<Int>(value + step));
}

/// The next value (step 1) or the one before (step -1) of a type whose values can be counted.
std::optional<Literal> Neighbour(const Literal& value, int step) {
  if (const auto* v = std::get_if<std::int32_t>(&value)) {
    return Neighbour<std::int32_t>(*v, step, std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max());
  }
  if (const auto* v = std::get_if<std::int64_t>(&value)) {
    return Neighbour<std::int64_t>(*v, step, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max());
  }
  if (const auto* v = std::get_if<Int128>(&value)) {
    // Decimals have 38 digits at most: far from the ends.
    return Literal(static_cast<Int128>(*v + step));
  }
  return std::nullopt;
}

bool IsNegative(const Literal& value) {
  if (const auto* v = std::get_if<std::int32_t>(&value)) return *v < 0;
  const auto* v = std::get_if<std::int64_t>(&value);
  return v != nullptr && *v < 0;
}

/// Old writers rounded times before 1970 towards zero, so a partition with the true value v < 0 may
/// be stored as v + 1. Days of dates are numbers already and were never rounded.
bool MayBeRoundedUp(const Projection& p) {
  const bool time = p.kind() >= Kind::kYear && p.kind() <= Kind::kHour;
  return time && !(p.kind() == Kind::kDay && p.predicate.type().id() == TypeId::kDate);
}

/// The upper end of what may be stored for a value.
Literal RoundedUp(const Projection& p, const Literal& transformed) {
  if (!MayBeRoundedUp(p) || !IsNegative(transformed)) return transformed;
  return *Neighbour(transformed, 1);
}

/// Each value, and where rounding may have moved it, the one it was moved to.
Expression OnAllStored(const Projection& p, Op op) {
  std::vector<Literal> values;
  for (const Literal& value : p.predicate.literals()) {
    auto transformed = p.Apply(value);
    if (!transformed) return Unknown(p.mode);
    values.push_back(RoundedUp(p, *transformed));
    values.push_back(*std::move(transformed));
  }
  return p.On(op, std::move(values));
}

Expression AtMost(const Projection& p, const Literal& value) {
  const auto transformed = p.Apply(value);
  if (!transformed) return Unknown(p.mode);
  return p.On(Op::kLtEq, {RoundedUp(p, *transformed)});
}

/// Above the partition of `value` for certain.
Expression StrictlyAbove(const Projection& p, const Literal& value) {
  const auto transformed = p.Apply(value);
  if (!transformed) return Unknown(p.mode);
  return p.On(Op::kGt, {RoundedUp(p, *transformed)});
}

/// What truncate stores for values below its lowest multiple: the difference wraps around to a
/// large number, as in Java. Unset if there are no such values. No other value is stored as this.
std::optional<Literal> WrappedPartition(const Projection& p) {
  if (p.kind() != Kind::kTruncate) return std::nullopt;
  if (p.predicate.literals().empty()) return std::nullopt;
  Literal least;
  if (std::holds_alternative<std::int32_t>(p.literal())) {
    least = std::numeric_limits<std::int32_t>::min();
  } else if (std::holds_alternative<std::int64_t>(p.literal())) {
    least = std::numeric_limits<std::int64_t>::min();
  } else {
    return std::nullopt;  // decimals are far from the ends of their numbers
  }
  auto stored = p.Apply(least);
  if (!stored || IsNegative(*stored)) return std::nullopt;
  return stored;
}

/// truncate of numbers, and the parts of times: monotone, over values that can be counted. A "<" is
/// first made a "<=" of the value before, which may lie in another partition.
Expression MonotoneInclusive(const Projection& p) {
  switch (p.op()) {
    case Op::kLt: {
      const auto below = Neighbour(p.literal(), -1);
      return below ? AtMost(p, *below) : Expression::False();
    }
    case Op::kLtEq:
      return AtMost(p, p.literal());
    case Op::kGt: {
      const auto above = Neighbour(p.literal(), 1);
      return above ? p.OnTransformed(Op::kGtEq, *above) : Expression::False();
    }
    case Op::kGtEq:
      return p.OnTransformed(Op::kGtEq, p.literal());
    case Op::kEq:
    case Op::kIn:
      return OnAllStored(p, Op::kIn);
    default:
      return Unknown(p.mode);
  }
}

Expression CountableInclusive(const Projection& p) {
  Expression projected = MonotoneInclusive(p);
  const auto wrapped = WrappedPartition(p);
  if (!wrapped) return projected;
  switch (p.op()) {
    case Op::kLt:
    case Op::kLtEq:
      return Expression::Or(std::move(projected), p.On(Op::kEq, {*wrapped}));
    case Op::kGt:
    case Op::kGtEq:
      return p.Apply(p.literal()) == wrapped ? p.On(Op::kNotNull) : projected;
    default:
      return projected;
  }
}

Expression MonotoneStrict(const Projection& p) {
  switch (p.op()) {
    case Op::kLt:
      return p.OnTransformed(Op::kLt, p.literal());
    case Op::kLtEq: {
      const auto above = Neighbour(p.literal(), 1);
      return above ? p.OnTransformed(Op::kLt, *above) : p.On(Op::kNotNull);
    }
    case Op::kGt:
      return StrictlyAbove(p, p.literal());
    case Op::kGtEq: {
      const auto below = Neighbour(p.literal(), -1);
      return below ? StrictlyAbove(p, *below) : p.On(Op::kNotNull);
    }
    case Op::kNotEq:
    case Op::kNotIn:
      return OnAllStored(p, Op::kNotIn);
    default:
      return Unknown(p.mode);
  }
}

Expression CountableStrict(const Projection& p) {
  Expression projected = MonotoneStrict(p);
  const auto wrapped = WrappedPartition(p);
  if (!wrapped) return projected;
  const bool in_wrapped = p.Apply(p.literal()) == wrapped;
  switch (p.op()) {
    case Op::kLt:
    case Op::kLtEq:
      return in_wrapped ? Unknown(p.mode) : projected;
    case Op::kGt:
    case Op::kGtEq:
      if (in_wrapped) return Unknown(p.mode);
      return Expression::And(std::move(projected), p.On(Op::kNotEq, {*wrapped}));
    default:
      return projected;
  }
}

std::size_t LengthOf(const Type& type, const std::string& text) {
  if (type.id() != TypeId::kString) return text.size();
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

/// A prefix that is longer than what the partition keeps decides by the kept part: enough to rule
/// the partition out, not enough to be sure of it.
Expression PrefixProjection(const Projection& p) {
  const auto* prefix = std::get_if<std::string>(&p.literal());
  if (prefix == nullptr) return Unknown(p.mode);
  const std::size_t length = LengthOf(p.predicate.type(), *prefix);
  const auto width = static_cast<std::size_t>(p.field.transform.parameter());
  if (length < width) return p.On(p.op(), {p.literal()});
  const bool positive = p.op() == Op::kStartsWith;
  if (length > width && positive != (p.mode == Mode::kInclusive)) return Unknown(p.mode);
  return p.OnTransformed(positive ? Op::kEq : Op::kNotEq, p.literal());
}

/// truncate of strings and bytes: monotone, but without a next value.
Expression PrefixedInclusive(const Projection& p) {
  switch (p.op()) {
    case Op::kLt:
    case Op::kLtEq:
      return p.OnTransformed(Op::kLtEq, p.literal());
    case Op::kGt:
    case Op::kGtEq:
      return p.OnTransformed(Op::kGtEq, p.literal());
    case Op::kEq:
    case Op::kIn:
      return p.OnAllTransformed(Op::kIn);
    case Op::kStartsWith:
    case Op::kNotStartsWith:
      return PrefixProjection(p);
    default:
      return Unknown(p.mode);
  }
}

Expression PrefixedStrict(const Projection& p) {
  switch (p.op()) {
    case Op::kLt:
    case Op::kLtEq:
      return p.OnTransformed(Op::kLt, p.literal());
    case Op::kGt:
    case Op::kGtEq:
      return p.OnTransformed(Op::kGt, p.literal());
    case Op::kNotEq:
    case Op::kNotIn:
      return p.OnAllTransformed(Op::kNotIn);
    case Op::kStartsWith:
    case Op::kNotStartsWith:
      return PrefixProjection(p);
    default:
      return Unknown(p.mode);
  }
}

/// Equal values share a bucket; nothing else is known of a bucket.
Expression BucketProjection(const Projection& p) {
  const bool inclusive = p.mode == Mode::kInclusive;
  switch (p.op()) {
    case Op::kEq:
    case Op::kIn:
      return inclusive ? p.OnAllTransformed(Op::kIn) : Unknown(p.mode);
    case Op::kNotEq:
    case Op::kNotIn:
      return inclusive ? Unknown(p.mode) : p.OnAllTransformed(Op::kNotIn);
    default:
      return Unknown(p.mode);
  }
}

Expression ProjectOnField(const Projection& p) {
  const Type& source = p.predicate.type();
  if (p.kind() == Kind::kVoid || p.kind() == Kind::kUnknown) return Unknown(p.mode);
  if (!p.field.transform.CanTransform(source)) return Unknown(p.mode);
  if (p.kind() == Kind::kIdentity) return p.On(p.op(), p.predicate.literals());
  // Only null becomes null.
  if (p.op() == Op::kIsNull || p.op() == Op::kNotNull) return p.On(p.op());
  if (p.op() == Op::kIsNan || p.op() == Op::kNotNan) return Unknown(p.mode);
  if (p.kind() == Kind::kBucket) return BucketProjection(p);
  const bool prefixed = source.id() == TypeId::kString || source.id() == TypeId::kBinary;
  if (prefixed) {
    return p.mode == Mode::kInclusive ? PrefixedInclusive(p) : PrefixedStrict(p);
  }
  return p.mode == Mode::kInclusive ? CountableInclusive(p) : CountableStrict(p);
}

Expression ProjectPredicate(const Expression& predicate, const PartitionSpec& spec, Mode mode) {
  Expression result = Unknown(mode);
  for (const PartitionField& field : spec.fields) {
    if (field.source_ids.size() != 1 || field.source_id() != predicate.field()) continue;
    Expression projected = ProjectOnField({predicate, field, mode});
    // Each field alone is right: inclusive ones must all allow, a strict one alone is enough.
    result = mode == Mode::kInclusive ? Expression::And(std::move(result), std::move(projected))
                                      : Expression::Or(std::move(result), std::move(projected));
  }
  return result;
}

/// Precondition: no kNot.
Expression Project(const Expression& e, const PartitionSpec& spec, Mode mode) {
  switch (e.op()) {
    case Op::kTrue:
    case Op::kFalse:
      return e;
    case Op::kAnd:
      return Expression::And(Project(e.left(), spec, mode), Project(e.right(), spec, mode));
    case Op::kOr:
      return Expression::Or(Project(e.left(), spec, mode), Project(e.right(), spec, mode));
    default:
      return ProjectPredicate(e, spec, mode);
  }
}

}  // namespace

Expression ProjectInclusive(const Expression& expression, const Schema& /*schema*/,
                            const PartitionSpec& spec) {
  return Project(expression.WithoutNot(), spec, Mode::kInclusive);
}

Expression ProjectStrict(const Expression& expression, const Schema& /*schema*/,
                         const PartitionSpec& spec) {
  return Project(expression.WithoutNot(), spec, Mode::kStrict);
}

}  // namespace icewright
