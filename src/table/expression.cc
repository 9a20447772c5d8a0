#include "table/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "table/calendar.h"
#include "table/expression_lexer.h"
#include "table/predicate.h"

namespace icewright {
namespace {

using Op = Expression::Op;

bool IsPredicate(Op op) { return op >= Op::kIsNull; }

bool IsPlainName(std::string_view name) {
  if (name.empty() || IsKeyword(name)) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool after_dot = i == 0 || name[i - 1] == '.';
    if (name[i] == '.' ? after_dot || i + 1 == name.size()
                       : !(after_dot ? IsNameStart(name[i]) : IsNamePart(name[i]))) {
      return false;
    }
  }
  return true;
}

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    out.push_back(c);
    if (c == quote) out.push_back(c);
  }
  out.push_back(quote);
  return out;
}

std::string NameText(const Schema& schema, FieldId field) {
  const std::string_view name = schema.NameOf(field);
  if (name.empty()) return "field_" + ToString(field);  // partition fields are in no schema
  return IsPlainName(name) ? std::string(name) : Quoted(name, '"');
}

/// The literal as the parser reads it.
std::string LiteralText(const Type& type, const Literal& value) {
  switch (type.id()) {
    case TypeId::kBoolean:
    case TypeId::kInt:
    case TypeId::kLong:
      return ToHuman(type, value);
    case TypeId::kFloat:
    case TypeId::kDouble: {
      const std::string text = ToHuman(type, value);
      return text.ends_with('y') ? Quoted(text, '\'') : text;  // 'Infinity'
    }
    case TypeId::kDecimal:
      if (const auto* v = std::get_if<Int128>(&value)) return DecimalText(*v, type.scale());
      break;
    case TypeId::kDate:
      if (const auto* v = std::get_if<std::int32_t>(&value)) return Quoted(DateText(*v), '\'');
      break;
    case TypeId::kFixed:
    case TypeId::kBinary:
      if (const auto* v = std::get_if<std::string>(&value)) return "X'" + ToHex(*v) + '\'';
      break;
    default:
      break;
  }
  return Quoted(ToHuman(type, value), '\'');
}

std::string_view Symbol(Op op) {
  switch (op) {
    case Op::kLt:
      return "<";
    case Op::kLtEq:
      return "<=";
    case Op::kGt:
      return ">";
    case Op::kGtEq:
      return ">=";
    case Op::kEq:
      return "=";
    default:
      return "!=";
  }
}

std::string PatternText(const Literal& prefix) {
  std::string pattern;
  if (const auto* text = std::get_if<std::string>(&prefix)) {
    for (const char c : *text) {
      if (c == '%' || c == '_' || c == '\\') pattern.push_back('\\');
      pattern.push_back(c);
    }
  }
  return Quoted(pattern + '%', '\'');
}

std::string PredicateText(const Expression& e, const Schema& schema) {
  const std::string name = NameText(schema, e.field());
  switch (e.op()) {
    case Op::kIsNull:
      return name + " is null";
    case Op::kNotNull:
      return name + " is not null";
    case Op::kIsNan:
      return name + " is nan";
    case Op::kNotNan:
      return name + " is not nan";
    case Op::kStartsWith:
      return name + " like " + PatternText(e.literals()[0]);
    case Op::kNotStartsWith:
      return name + " not like " + PatternText(e.literals()[0]);
    case Op::kIn:
    case Op::kNotIn: {
      std::string list;
      for (const Literal& value : e.literals()) {
        if (!list.empty()) list += ", ";
        list += LiteralText(e.type(), value);
      }
      return fmt::format("{} {} ({})", name, e.op() == Op::kIn ? "in" : "not in", list);
    }
    default:
      return fmt::format("{} {} {}", name, Symbol(e.op()), LiteralText(e.type(), e.literals()[0]));
  }
}

bool EvaluatePolar(const Expression& e, bool negated,
                   const std::function<Literal(FieldId)>& value_of) {
  switch (e.op()) {
    case Op::kTrue:
      return !negated;
    case Op::kFalse:
      return negated;
    case Op::kNot:
      return EvaluatePolar(e.left(), !negated, value_of);
    case Op::kAnd:
    case Op::kOr: {
      // De Morgan: a negated "and" is an "or" of negated sides.
      const bool first = EvaluatePolar(e.left(), negated, value_of);
      const bool stop_at = (e.op() == Op::kOr) != negated;
      return first == stop_at ? first : EvaluatePolar(e.right(), negated, value_of);
    }
    default:
      return Matches(negated ? Negated(e.op()) : e.op(), e.literals(), value_of(e.field()));
  }
}

Expression PushNot(const Expression& e, bool negated) {
  switch (e.op()) {
    case Op::kTrue:
    case Op::kFalse:
      return e.is_true() != negated ? Expression::True() : Expression::False();
    case Op::kNot:
      return PushNot(e.left(), !negated);
    case Op::kAnd:
    case Op::kOr: {
      Expression left = PushNot(e.left(), negated);
      Expression right = PushNot(e.right(), negated);
      return (e.op() == Op::kAnd) != negated ? Expression::And(std::move(left), std::move(right))
                                             : Expression::Or(std::move(left), std::move(right));
    }
    default:
      if (!negated) return e;
      return Expression::Predicate(Negated(e.op()), e.field(), e.type(), e.literals());
  }
}

void CollectFields(const Expression& e, std::set<FieldId>& fields) {
  if (IsPredicate(e.op())) {
    fields.insert(e.field());
  } else if (e.op() == Op::kNot) {
    CollectFields(e.left(), fields);
  } else if (e.op() == Op::kAnd || e.op() == Op::kOr) {
    CollectFields(e.left(), fields);
    CollectFields(e.right(), fields);
  }
}

}  // namespace

struct Expression::Rep {
  Op op = Op::kTrue;
  Expression left = {};
  Expression right = {};
  FieldId field{};
  Type type = {};
  std::vector<Literal> literals = {};
};

Expression Expression::False() {
  static const auto rep = std::make_shared<const Rep>(Rep{.op = Op::kFalse});
  Expression e;
  e.rep_ = rep;
  return e;
}

Expression Expression::Not(Expression child) {
  if (child.is_true()) return False();
  if (child.is_false()) return True();
  if (child.op() == Op::kNot) return child.left();
  Expression e;
  e.rep_ = std::make_shared<const Rep>(Rep{.op = Op::kNot, .left = std::move(child)});
  return e;
}

Expression Expression::And(Expression left, Expression right) {
  if (left.is_false() || right.is_false()) return False();
  if (left.is_true()) return right;
  if (right.is_true()) return left;
  Expression e;
  e.rep_ = std::make_shared<const Rep>(
      Rep{.op = Op::kAnd, .left = std::move(left), .right = std::move(right)});
  return e;
}

Expression Expression::Or(Expression left, Expression right) {
  if (left.is_true() || right.is_true()) return True();
  if (left.is_false()) return right;
  if (right.is_false()) return left;
  Expression e;
  e.rep_ = std::make_shared<const Rep>(
      Rep{.op = Op::kOr, .left = std::move(left), .right = std::move(right)});
  return e;
}

Expression Expression::Predicate(Op op, FieldId field, Type type, std::vector<Literal> literals) {
  if (op == Op::kIn || op == Op::kNotIn) {
    std::sort(literals.begin(), literals.end(), [](const Literal& a, const Literal& b) {
      return OrderInPredicate(a, b) == std::partial_ordering::less;
    });
    const auto same = [](const Literal& a, const Literal& b) {
      return OrderInPredicate(a, b) == 0;
    };
    literals.erase(std::unique(literals.begin(), literals.end(), same), literals.end());
    if (literals.empty()) return op == Op::kIn ? False() : True();
    if (literals.size() == 1) op = op == Op::kIn ? Op::kEq : Op::kNotEq;
  }
  Expression e;
  e.rep_ = std::make_shared<const Rep>(
      Rep{.op = op, .field = field, .type = std::move(type), .literals = std::move(literals)});
  return e;
}

Op Expression::op() const { return rep_ ? rep_->op : Op::kTrue; }
const Expression& Expression::left() const { return rep_->left; }
const Expression& Expression::right() const { return rep_->right; }
FieldId Expression::field() const { return rep_->field; }
const Type& Expression::type() const { return rep_->type; }
const std::vector<Literal>& Expression::literals() const { return rep_->literals; }

Expression Expression::WithoutNot() const { return PushNot(*this, false); }

std::set<FieldId> Expression::Fields() const {
  std::set<FieldId> fields;
  CollectFields(*this, fields);
  return fields;
}

std::string Expression::ToString(const Schema& schema) const {
  const auto side = [&schema, this](const Expression& e) {
    const bool wrap = !IsPredicate(e.op()) && e.op() != op();
    return wrap ? '(' + e.ToString(schema) + ')' : e.ToString(schema);
  };
  switch (op()) {
    case Op::kTrue:
      return "true";
    case Op::kFalse:
      return "false";
    case Op::kNot:
      return "not (" + left().ToString(schema) + ')';
    case Op::kAnd:
      return side(left()) + " and " + side(right());
    case Op::kOr:
      return side(left()) + " or " + side(right());
    default:
      return PredicateText(*this, schema);
  }
}

bool Evaluate(const Expression& expression, const std::function<Literal(FieldId)>& value_of) {
  return EvaluatePolar(expression, false, value_of);
}

}  // namespace icewright
