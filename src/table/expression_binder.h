#pragma once

/// \file table/expression_binder.h
/// Gives names and literals of filter text their column and type.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "table/expression.h"

namespace icewright {

struct FilterColumn {
  FieldId id{};
  Type type;
  std::string name;
  /// The column and every struct around it: never null.
  bool required = false;
};

/// A literal as written.
struct FilterLiteral {
  enum class Kind : std::uint8_t { kNumber, kString, kBytes, kBoolean };
  Kind kind = Kind::kString;
  std::string text;          ///< kBytes: hexadecimal
  std::size_t position = 0;  ///< byte offset in the filter
};

/// Whether the predicate stands under an odd number of NOTs: decides what a predicate that no value
/// can meet (or miss) becomes, so that rows with a null never match either way.
enum class Polarity : std::uint8_t { kPlain, kNegated };

/// Errors: kInvalidArgument for an unknown or ambiguous name, with the nearest one, and for columns
/// that are no primitive or inside a list or map.
Result<FilterColumn> ResolveColumn(const Schema& schema, const std::string& name,
                                   bool case_sensitive, std::size_t position);

/// kLt to kNotEq, kStartsWith, kNotStartsWith. A number outside the column's range folds.
/// Errors: kInvalidArgument, naming column and type.
Result<Expression> BindComparison(Expression::Op op, const FilterColumn& column,
                                  const FilterLiteral& literal, Polarity polarity);

Result<Expression> BindIn(const FilterColumn& column, const std::vector<FilterLiteral>& literals,
                          Polarity polarity);

/// kIsNull, kNotNull, kIsNan, kNotNan.
Result<Expression> BindUnary(Expression::Op op, const FilterColumn& column, std::size_t position);

}  // namespace icewright
