#include "table/predicate.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace icewright {
namespace {

using Op = Expression::Op;

/// An integer or float as the widest of its kind, so that promoted values meet.
Literal Widened(const Literal& value) {
  if (const auto* v = std::get_if<std::int32_t>(&value)) return std::int64_t{*v};
  if (const auto* v = std::get_if<float>(&value)) return double{*v};
  return value;
}

bool Contains(const std::vector<Literal>& sorted, const Literal& value) {
  // A NaN is equivalent to nothing, so wherever the search ends it is not found.
  const auto at =
      std::lower_bound(sorted.begin(), sorted.end(), value, [](const Literal& a, const Literal& b) {
        return OrderInPredicate(a, b) == std::partial_ordering::less;
      });
  return at != sorted.end() && OrderInPredicate(*at, value) == std::partial_ordering::equivalent;
}

bool StartsWith(const Literal& prefix, const Literal& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* start = std::get_if<std::string>(&prefix);
  return text != nullptr && start != nullptr && text->starts_with(*start);
}

}  // namespace

Op Negated(Op op) {
  switch (op) {
    case Op::kIsNull:
      return Op::kNotNull;
    case Op::kNotNull:
      return Op::kIsNull;
    case Op::kIsNan:
      return Op::kNotNan;
    case Op::kNotNan:
      return Op::kIsNan;
    case Op::kLt:
      return Op::kGtEq;
    case Op::kLtEq:
      return Op::kGt;
    case Op::kGt:
      return Op::kLtEq;
    case Op::kGtEq:
      return Op::kLt;
    case Op::kEq:
      return Op::kNotEq;
    case Op::kNotEq:
      return Op::kEq;
    case Op::kIn:
      return Op::kNotIn;
    case Op::kNotIn:
      return Op::kIn;
    case Op::kStartsWith:
      return Op::kNotStartsWith;
    case Op::kNotStartsWith:
      return Op::kStartsWith;
    default:
      return op;
  }
}

std::partial_ordering OrderInPredicate(const Literal& a, const Literal& b) {
  if (a.index() != b.index()) {
    const Literal wide_a = Widened(a);
    const Literal wide_b = Widened(b);
    if (wide_a.index() != wide_b.index()) return std::partial_ordering::unordered;
    return OrderInPredicate(wide_a, wide_b);
  }
  return std::visit(
      [&b](const auto& left) -> std::partial_ordering {
        using T = std::decay_t<decltype(left)>;
        const T& right = *std::get_if<T>(&b);
        if constexpr (std::is_same_v<T, Int128>) {
          return left < right   ? std::partial_ordering::less
                 : left > right ? std::partial_ordering::greater
                                : std::partial_ordering::equivalent;
        } else {
          return left <=> right;
        }
      },
      a);
}

bool IsNan(const Literal& value) {
  if (const auto* v = std::get_if<float>(&value)) return std::isnan(*v);
  if (const auto* v = std::get_if<double>(&value)) return std::isnan(*v);
  return false;
}

bool Matches(Op op, const std::vector<Literal>& literals, const Literal& value) {
  if (IsNull(value)) return op == Op::kIsNull;
  switch (op) {
    case Op::kIsNull:
      return false;
    case Op::kNotNull:
      return true;
    case Op::kIsNan:
      return IsNan(value);
    case Op::kNotNan:
      return !IsNan(value);
    case Op::kLt:
      return OrderInPredicate(value, literals[0]) < 0;
    case Op::kLtEq:
      return OrderInPredicate(value, literals[0]) <= 0;
    case Op::kGt:
      return OrderInPredicate(value, literals[0]) > 0;
    case Op::kGtEq:
      return OrderInPredicate(value, literals[0]) >= 0;
    case Op::kEq:
      return OrderInPredicate(value, literals[0]) == 0;
    case Op::kNotEq:
      return OrderInPredicate(value, literals[0]) != 0;
    case Op::kIn:
      return Contains(literals, value);
    case Op::kNotIn:
      return !Contains(literals, value);
    case Op::kStartsWith:
      return StartsWith(literals[0], value);
    case Op::kNotStartsWith:
      return !StartsWith(literals[0], value);
    default:
      return false;
  }
}

}  // namespace icewright
