#pragma once

/// \file table/expression.h
/// Filter expressions: parse, bind, evaluate on rows, project to partitions.
///
/// Java twins: Expressions, Binder, Projections, Evaluator.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "table/literal.h"
#include "table/partition_spec.h"
#include "table/schema.h"

namespace icewright {

/// A bound filter: names are field ids, literals have the column's type. Immutable, cheap to copy.
class Expression {
 public:
  enum class Op : std::uint8_t {
    kTrue,
    kFalse,
    kNot,
    kAnd,
    kOr,
    kIsNull,
    kNotNull,
    kIsNan,
    kNotNan,
    kLt,
    kLtEq,
    kGt,
    kGtEq,
    kEq,
    kNotEq,
    kIn,
    kNotIn,
    kStartsWith,
    kNotStartsWith,
  };

  Expression() = default;  // always true
  static Expression True() { return {}; }
  static Expression False();
  static Expression Not(Expression child);
  static Expression And(Expression left, Expression right);
  static Expression Or(Expression left, Expression right);
  /// Precondition: the operator takes this many literals.
  static Expression Predicate(Op op, FieldId field, Type type, std::vector<Literal> literals = {});

  Op op() const;
  const Expression& left() const;   ///< kNot, kAnd, kOr
  const Expression& right() const;  ///< kAnd, kOr
  FieldId field() const;            ///< predicates
  const Type& type() const;         ///< predicates: type of the field
  const std::vector<Literal>& literals() const;

  bool is_true() const { return op() == Op::kTrue; }
  bool is_false() const { return op() == Op::kFalse; }

  /// The same filter without kNot: pushed down to the predicates.
  Expression WithoutNot() const;

  std::set<FieldId> Fields() const;
  std::string ToString(const Schema& schema) const;

 private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

/// Parses `month = 3 and carrier in ('UA','AA')`: and, or, not, parentheses, = <> != < <= > >=,
/// in, not in, between, is [not] null, is [not] nan, like 'abc%' (prefix only), true, false; names
/// bare, dotted, or in double quotes or backticks. Literals are bound to the column's type.
/// A number that the column cannot hold folds: `int_column < 3000000000` is `int_column is not
/// null`, or true if the column is required. A boolean column may stand alone. Errors:
/// kInvalidArgument, with the position and, for an unknown column, the nearest name.
Result<Expression> ParseExpression(const Schema& schema, std::string_view text,
                                   bool case_sensitive = true);

/// As SQL's WHERE: every predicate on a null is false, except IS NULL; NOT is pushed down first. A
/// NaN compares with nothing and so is only != and NOT IN; 0.0 = -0.0.
bool Evaluate(const Expression& expression, const std::function<Literal(FieldId)>& value_of);

/// On partition tuples: true for each partition that may (inclusive) hold a matching row. The
/// result is bound to the partition field ids.
Expression ProjectInclusive(const Expression& expression, const Schema& schema,
                            const PartitionSpec& spec);
/// True only for partitions whose rows all match (strict).
Expression ProjectStrict(const Expression& expression, const Schema& schema,
                         const PartitionSpec& spec);

}  // namespace icewright
