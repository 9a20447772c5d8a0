#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "table/expression.h"
#include "table/expression_binder.h"
#include "table/expression_lexer.h"

namespace icewright {
namespace {

using Op = Expression::Op;

/// Parentheses and NOTs inside each other: more would be a mistake, and the stack is finite.
constexpr int kMaxDepth = 200;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool IsComparison(const Token& token) {
  constexpr std::string_view kOthers = "(),.";
  return token.kind == Token::Kind::kSign && kOthers.find(token.text) == std::string_view::npos;
}

Op ComparisonOf(std::string_view sign) {
  if (sign == "=") return Op::kEq;
  if (sign == "!=") return Op::kNotEq;
  if (sign == "<") return Op::kLt;
  if (sign == "<=") return Op::kLtEq;
  return sign == ">" ? Op::kGt : Op::kGtEq;
}

/// In lower case: what may stand before a string.
bool IsLiteralType(std::string_view word) {
  constexpr std::string_view kTypes[] = {
      "x", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "uuid"};
  return std::find(std::begin(kTypes), std::end(kTypes), word) != std::end(kTypes);
}

/// "5 < a" is "a > 5".
Op Mirrored(Op op) {
  switch (op) {
    case Op::kLt:
      return Op::kGt;
    case Op::kLtEq:
      return Op::kGtEq;
    case Op::kGt:
      return Op::kLt;
    case Op::kGtEq:
      return Op::kLtEq;
    default:
      return op;
  }
}

/// Joins a chain as a balanced tree: ten thousand terms are fourteen levels, not ten thousand.
Expression Join(Op op, const std::vector<Expression>& terms, std::size_t from, std::size_t to) {
  if (to - from == 1) return terms[from];
  const std::size_t middle = from + (to - from) / 2;
  Expression left = Join(op, terms, from, middle);
  Expression right = Join(op, terms, middle, to);
  return op == Op::kAnd ? Expression::And(std::move(left), std::move(right))
                        : Expression::Or(std::move(left), std::move(right));
}

/// A like pattern: a prefix, or a whole text without wildcards.
struct Pattern {
  std::string text;
  bool open = false;  ///< ends with %
};

Result<Pattern> ParsePattern(const Token& token) {
  Pattern pattern;
  for (std::size_t i = 0; i < token.text.size(); ++i) {
    const char c = token.text[i];
    if (c == '\\' && i + 1 < token.text.size()) {
      pattern.text.push_back(token.text[++i]);
    } else if (c == '%' && i + 1 == token.text.size()) {
      pattern.open = true;
    } else if (c == '%' || c == '_' || c == '\\') {
      return FilterError(token.position, "like takes a prefix only, such as 'abc%'; \\ escapes");
    } else {
      pattern.text.push_back(c);
    }
  }
  return pattern;
}

/// Recursive descent over the tokens; the grammar stands at each function. Single-threaded.
class Parser {
 public:
  Parser(const Schema& schema, std::vector<Token> tokens, bool case_sensitive)
      : schema_(schema), tokens_(std::move(tokens)), case_sensitive_(case_sensitive) {}

  Result<Expression> Parse() {
    IW_ASSIGN(Expression result, ParseOr(Polarity::kPlain));
    if (Here().kind != Token::Kind::kEnd) return Unexpected("'and', 'or' or the end");
    return result;
  }

 private:
  const Token& Here() const { return tokens_[at_]; }

  bool IsWord(std::string_view word) const {
    return Here().kind == Token::Kind::kName && Lower(Here().text) == word;
  }
  bool TakeWord(std::string_view word) {
    const bool taken = IsWord(word);
    if (taken) ++at_;
    return taken;
  }
  bool TakeSign(std::string_view sign) {
    const bool taken = Here().kind == Token::Kind::kSign && Here().text == sign;
    if (taken) ++at_;
    return taken;
  }

  Error Unexpected(std::string_view expected) const {
    const Token& token = Here();
    return FilterError(token.position,
                       token.kind == Token::Kind::kEnd
                           ? fmt::format("expected {}, but the text ends", expected)
                           : fmt::format("expected {}, not '{}'", expected, token.text));
  }

  /// or := and { "or" and }
  Result<Expression> ParseOr(Polarity polarity) {
    std::vector<Expression> terms;
    do {
      IW_ASSIGN(Expression term, ParseAnd(polarity));
      terms.push_back(std::move(term));
    } while (TakeWord("or"));
    return Join(Op::kOr, terms, 0, terms.size());
  }

  /// and := not { "and" not }
  Result<Expression> ParseAnd(Polarity polarity) {
    std::vector<Expression> terms;
    do {
      IW_ASSIGN(Expression term, ParseNot(polarity));
      terms.push_back(std::move(term));
    } while (TakeWord("and"));
    return Join(Op::kAnd, terms, 0, terms.size());
  }

  /// not := "not" not | "(" or ")" | "true" | "false" | predicate
  Result<Expression> ParseNot(Polarity polarity) {
    if (depth_ == kMaxDepth) return FilterError(Here().position, "nested too deeply");
    ++depth_;
    auto result = ParseNested(polarity);
    --depth_;
    return result;
  }

  Result<Expression> ParseNested(Polarity polarity) {
    if (TakeWord("not")) {
      IW_ASSIGN(Expression child, ParseNot(Opposite(polarity)));
      return Expression::Not(std::move(child));
    }
    if (TakeSign("(")) {
      IW_ASSIGN(Expression inner, ParseOr(polarity));
      if (!TakeSign(")")) return Unexpected("')'");
      return inner;
    }
    if ((IsWord("true") || IsWord("false")) && !IsComparison(tokens_[at_ + 1])) {
      return TakeWord("true") || !TakeWord("false") ? Expression::True() : Expression::False();
    }
    return ParsePredicate(polarity);
  }

  static Polarity Opposite(Polarity polarity) {
    return polarity == Polarity::kPlain ? Polarity::kNegated : Polarity::kPlain;
  }

  /// predicate := literal comparison column | column rest
  Result<Expression> ParsePredicate(Polarity polarity) {
    if (AtLiteral()) {
      IW_ASSIGN(FilterLiteral literal, ParseLiteral());
      if (!IsComparison(Here())) return Unexpected("a comparison such as = or <");
      const Op op = Mirrored(ComparisonOf(tokens_[at_++].text));
      IW_ASSIGN(FilterColumn column, ParseColumn());
      return BindComparison(op, column, literal, polarity);
    }
    const std::size_t position = Here().position;
    IW_ASSIGN(FilterColumn column, ParseColumn());
    return ParseRest(column, position, polarity);
  }

  /// rest := comparison literal | "is" ["not"] ("null" | "nan")
  ///       | ["not"] ("in" list | "between" literal "and" literal | "like" pattern)
  ///       | nothing, after a boolean column
  Result<Expression> ParseRest(const FilterColumn& column, std::size_t position,
                               Polarity polarity) {
    if (IsComparison(Here())) {
      const Op op = ComparisonOf(tokens_[at_++].text);
      IW_ASSIGN(FilterLiteral literal, ParseLiteral());
      return BindComparison(op, column, literal, polarity);
    }
    if (TakeWord("is")) return ParseIs(column, position);
    const bool negated = TakeWord("not");
    if (IsWord("in") || IsWord("between") || IsWord("like")) {
      IW_ASSIGN(Expression test, ParseTest(column, negated ? Opposite(polarity) : polarity));
      return negated ? Expression::Not(std::move(test)) : test;
    }
    if (!negated && column.type.id() == TypeId::kBoolean) {
      return Expression::Predicate(Op::kEq, column.id, column.type, {Literal(true)});
    }
    return Unexpected(fmt::format("a comparison after column '{}'", column.name));
  }

  Result<Expression> ParseTest(const FilterColumn& column, Polarity polarity) {
    if (TakeWord("in")) return ParseIn(column, polarity);
    if (TakeWord("between")) return ParseBetween(column, polarity);
    ++at_;  // like
    return ParseLike(column, polarity);
  }

  Result<Expression> ParseIs(const FilterColumn& column, std::size_t position) {
    const bool negated = TakeWord("not");
    if (TakeWord("null")) {
      return BindUnary(negated ? Op::kNotNull : Op::kIsNull, column, position);
    }
    if (TakeWord("nan")) return BindUnary(negated ? Op::kNotNan : Op::kIsNan, column, position);
    return Unexpected("'null' or 'nan'");
  }

  Result<Expression> ParseIn(const FilterColumn& column, Polarity polarity) {
    if (!TakeSign("(")) return Unexpected("'('");
    std::vector<FilterLiteral> literals;
    do {
      IW_ASSIGN(FilterLiteral literal, ParseLiteral());
      literals.push_back(std::move(literal));
    } while (TakeSign(","));
    if (!TakeSign(")")) return Unexpected("',' or ')'");
    return BindIn(column, literals, polarity);
  }

  Result<Expression> ParseBetween(const FilterColumn& column, Polarity polarity) {
    IW_ASSIGN(const FilterLiteral low, ParseLiteral());
    if (!TakeWord("and")) return Unexpected("'and'");
    IW_ASSIGN(const FilterLiteral high, ParseLiteral());
    IW_ASSIGN(Expression from, BindComparison(Op::kGtEq, column, low, polarity));
    IW_ASSIGN(Expression to, BindComparison(Op::kLtEq, column, high, polarity));
    return Expression::And(std::move(from), std::move(to));
  }

  Result<Expression> ParseLike(const FilterColumn& column, Polarity polarity) {
    if (Here().kind != Token::Kind::kString) return Unexpected("a pattern such as 'abc%'");
    const Token& token = tokens_[at_++];
    IW_ASSIGN(Pattern pattern, ParsePattern(token));
    const FilterLiteral literal{FilterLiteral::Kind::kString, std::move(pattern.text),
                                token.position};
    // The column must be a string either way.
    IW_ASSIGN(Expression prefix, BindComparison(Op::kStartsWith, column, literal, polarity));
    if (pattern.open) return prefix;
    return BindComparison(Op::kEq, column, literal, polarity);
  }

  /// column := part { "." part }
  Result<FilterColumn> ParseColumn() {
    const std::size_t position = Here().position;
    std::string name;
    do {
      const Token& token = Here();
      const bool plain =
          token.kind == Token::Kind::kName && (!name.empty() || !IsKeyword(token.text));
      if (!plain && token.kind != Token::Kind::kQuoted) return Unexpected("a column");
      if (at_ > 0 && !name.empty()) name.push_back('.');
      name += token.text;
      ++at_;
    } while (TakeSign("."));
    return ResolveColumn(schema_, name, case_sensitive_, position);
  }

  /// A word before a string names the type of the literal, as in date '2024-01-31' or X'00ff'.
  bool AtTypedLiteral() const {
    return Here().kind == Token::Kind::kName && tokens_[at_ + 1].kind == Token::Kind::kString &&
           IsLiteralType(Lower(Here().text));
  }

  bool AtLiteral() const {
    return Here().kind == Token::Kind::kNumber || Here().kind == Token::Kind::kString ||
           IsWord("true") || IsWord("false") || AtTypedLiteral();
  }

  /// literal := number | string | "true" | "false" | type string
  Result<FilterLiteral> ParseLiteral() {
    using Kind = FilterLiteral::Kind;
    if (IsWord("null")) {
      return FilterError(Here().position, "nothing compares with null: write is null");
    }
    if (IsWord("nan"))
      return FilterError(Here().position, "nothing compares with NaN: write is nan");
    if (!AtLiteral()) return Unexpected("a literal");
    const Token& token = tokens_[at_++];
    if (token.kind == Token::Kind::kNumber) {
      return FilterLiteral{Kind::kNumber, token.text, token.position};
    }
    if (token.kind == Token::Kind::kString) {
      return FilterLiteral{Kind::kString, token.text, token.position};
    }
    const std::string word = Lower(token.text);
    if (!IsLiteralType(word)) return FilterLiteral{Kind::kBoolean, word, token.position};
    return FilterLiteral{word == "x" ? Kind::kBytes : Kind::kString, tokens_[at_++].text,
                         token.position};
  }

  const Schema& schema_;
  std::vector<Token> tokens_;
  bool case_sensitive_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expression> ParseExpression(const Schema& schema, std::string_view text,
                                   bool case_sensitive) {
  IW_ASSIGN(std::vector<Token> tokens, TokenizeExpression(text));
  return Parser(schema, std::move(tokens), case_sensitive).Parse();
}

}  // namespace icewright
