#pragma once

/// \file table/predicate.h
/// What one predicate says about one value; shared by evaluation, projection and pruning.

#include <compare>
#include <vector>

#include "table/expression.h"

namespace icewright {

/// "<" -> ">=" and so on. Precondition: op is a predicate's.
Expression::Op Negated(Expression::Op op);

/// Order as SQL compares: a NaN is unordered with everything, -0.0 equals 0.0, integers compare
/// with longs and floats with doubles (values from before a type promotion). Precondition: neither
/// is null.
std::partial_ordering OrderInPredicate(const Literal& a, const Literal& b);

/// True for float and double NaN.
bool IsNan(const Literal& value);

/// A null matches kIsNull only, a NaN the negative operators only (and kIsNan, kNotNull).
/// Precondition: literals of kIn and kNotIn are sorted, as Expression::Predicate leaves them.
bool Matches(Expression::Op op, const std::vector<Literal>& literals, const Literal& value);

}  // namespace icewright
