#include "table/expression_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "table/expression_lexer.h"
#include "table/number_text.h"
#include "table/predicate.h"

namespace icewright {
namespace {

using Op = Expression::Op;
using Kind = FilterLiteral::Kind;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Full names of all primitives that a filter can name.
void CollectNames(const std::vector<Field>& fields, const std::string& prefix,
                  std::vector<std::string>& names) {
  for (const Field& field : fields) {
    const std::string name = prefix + field.name;
    if (field.type.is_primitive()) names.push_back(name);
    if (field.type.id() == TypeId::kStruct) CollectNames(field.type.fields(), name + '.', names);
  }
}

/// Levenshtein: insertions, deletions and replacements of characters.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t replaced = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, row[k] + 1, diagonal + 1});
    }
  }
  return row.back();
}

Error UnknownColumn(const Schema& schema, const std::string& name, std::size_t position) {
  std::vector<std::string> names;
  CollectNames(schema.fields(), {}, names);
  const std::string lower = Lower(name);
  const std::string* nearest = nullptr;
  std::size_t best = std::max<std::size_t>(2, name.size() / 2) + 1;
  std::size_t same = 0;
  for (const std::string& candidate : names) {
    const std::string lower_candidate = Lower(candidate);
    if (lower_candidate == lower) ++same;
    const std::size_t distance = EditDistance(lower, lower_candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = &candidate;
  }
  if (same > 1) {
    return FilterError(position,
                       fmt::format("column '{}' is ambiguous without regard to case", name));
  }
  if (nearest == nullptr) return FilterError(position, fmt::format("unknown column '{}'", name));
  return FilterError(position,
                     fmt::format("unknown column '{}'; did you mean '{}'?", name, *nearest));
}

/// The fields from the top to the one asked for, through structs only; empty if there is no way.
std::vector<const Field*> PathTo(const std::vector<Field>& fields, FieldId id) {
  for (const Field& field : fields) {
    if (field.id == id) return {&field};
    if (field.type.id() != TypeId::kStruct) continue;
    std::vector<const Field*> below = PathTo(field.type.fields(), id);
    if (below.empty()) continue;
    below.insert(below.begin(), &field);
    return below;
  }
  return {};
}

Error CannotCompare(const FilterColumn& column, const FilterLiteral& literal) {
  return FilterError(
      literal.position,
      fmt::format("cannot compare column '{}' ({}) with {}", column.name, column.type.ToString(),
                  literal.kind == Kind::kString ? '\'' + literal.text + '\'' : literal.text));
}

/// A literal of the column's type, or the side on which it lies outside.
struct Bound {
  enum class Range : std::uint8_t { kInside, kBelow, kAbove };
  Range range = Range::kInside;
  Literal value = {};
};

/// For a number that the column cannot hold though it has no digit too many.
std::optional<Bound> OutOfRange(const Type& type, const std::string& text) {
  const bool whole = type.id() == TypeId::kInt || type.id() == TypeId::kLong;
  if (!whole && type.id() != TypeId::kDecimal) return std::nullopt;
  const auto number = ParseDecimal(text, whole ? 0 : type.scale());
  if (!number) return std::nullopt;
  return Bound{*number < 0 ? Bound::Range::kBelow : Bound::Range::kAbove};
}

bool KindFits(const Type& type, Kind kind) {
  switch (kind) {
    case Kind::kBoolean:
      return type.id() == TypeId::kBoolean;
    case Kind::kBytes:
      return type.id() == TypeId::kBinary || type.id() == TypeId::kFixed;
    case Kind::kNumber:
      return type.id() == TypeId::kInt || type.id() == TypeId::kLong ||
             type.id() == TypeId::kFloat || type.id() == TypeId::kDouble ||
             type.id() == TypeId::kDecimal;
    case Kind::kString:
      return true;
  }
  return false;
}

Result<Bound> BindLiteral(const FilterColumn& column, const FilterLiteral& literal) {
  if (!KindFits(column.type, literal.kind)) return CannotCompare(column, literal);
  auto value = LiteralFromText(column.type, literal.text);
  if (value && IsNan(*value)) {
    return FilterError(literal.position,
                       fmt::format("nothing compares with NaN: write {} is nan", column.name));
  }
  if (value) return Bound{Bound::Range::kInside, *std::move(value)};
  if (auto outside = OutOfRange(column.type, literal.text)) return *std::move(outside);
  return CannotCompare(column, literal);
}

/// What a predicate becomes that is the same for every value but null, which matches neither it nor
/// its opposite. (Java folds to plain true and false here and so lets nulls through.)
Expression SameForAllValues(bool matches, const FilterColumn& column, Polarity polarity) {
  const bool negated = polarity == Polarity::kNegated;
  if (column.required || matches == negated) {
    return matches ? Expression::True() : Expression::False();
  }
  return Expression::Predicate(negated ? Op::kIsNull : Op::kNotNull, column.id, column.type);
}

bool MatchesOutside(Op op, Bound::Range range) {
  switch (op) {
    case Op::kLt:
    case Op::kLtEq:
      return range == Bound::Range::kAbove;
    case Op::kGt:
    case Op::kGtEq:
      return range == Bound::Range::kBelow;
    default:
      return op == Op::kNotEq;
  }
}

}  // namespace

Result<FilterColumn> ResolveColumn(const Schema& schema, const std::string& name,
                                   bool case_sensitive, std::size_t position) {
  const Field* field = schema.Find(name, case_sensitive);
  if (field == nullptr) return UnknownColumn(schema, name, position);
  const std::vector<const Field*> path = PathTo(schema.fields(), field->id);
  if (path.empty()) {
    return FilterError(position, fmt::format("column '{}' is inside a list or map", name));
  }
  if (!field->type.is_primitive()) {
    return FilterError(
        position, fmt::format("column '{}' is no primitive: {}", name, field->type.ToString()));
  }
  const bool required =
      std::all_of(path.begin(), path.end(), [](const Field* step) { return step->required; });
  return FilterColumn{field->id, field->type, name, required};
}

Result<Expression> BindComparison(Op op, const FilterColumn& column, const FilterLiteral& literal,
                                  Polarity polarity) {
  if ((op == Op::kStartsWith || op == Op::kNotStartsWith) && column.type.id() != TypeId::kString) {
    return FilterError(literal.position, fmt::format("like takes strings, but column '{}' is {}",
                                                     column.name, column.type.ToString()));
  }
  IW_ASSIGN(Bound bound, BindLiteral(column, literal));
  if (bound.range != Bound::Range::kInside) {
    return SameForAllValues(MatchesOutside(op, bound.range), column, polarity);
  }
  return Expression::Predicate(op, column.id, column.type, {std::move(bound.value)});
}

Result<Expression> BindIn(const FilterColumn& column, const std::vector<FilterLiteral>& literals,
                          Polarity polarity) {
  std::vector<Literal> values;
  for (const FilterLiteral& literal : literals) {
    IW_ASSIGN(Bound bound, BindLiteral(column, literal));
    if (bound.range == Bound::Range::kInside) values.push_back(std::move(bound.value));
  }
  if (values.empty()) return SameForAllValues(false, column, polarity);
  return Expression::Predicate(Op::kIn, column.id, column.type, std::move(values));
}

Result<Expression> BindUnary(Op op, const FilterColumn& column, std::size_t position) {
  const bool nan = op == Op::kIsNan || op == Op::kNotNan;
  if (nan && column.type.id() != TypeId::kFloat && column.type.id() != TypeId::kDouble) {
    return FilterError(
        position, fmt::format("column '{}' ({}) has no NaN", column.name, column.type.ToString()));
  }
  return Expression::Predicate(op, column.id, column.type);
}

}  // namespace icewright
