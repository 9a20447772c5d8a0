#include "table/expression_lexer.h"

#include <fmt/format.h>

#include <algorithm>

namespace icewright {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Cuts the text into tokens, one a call. Single-threaded.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> Next() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
    const std::size_t start = at_;
    if (at_ == text_.size()) return Token{Token::Kind::kEnd, {}, start};
    const char c = text_[at_];
    if (IsNameStart(c)) return Name(start);
    if (IsDigit(c) || ((c == '-' || c == '+' || c == '.') && StartsNumber(start))) {
      return Number(start);
    }
    if (c == '\'') return Quotation(start, Token::Kind::kString);
    if (c == '"' || c == '`') return Quotation(start, Token::Kind::kQuoted);
    return Sign(start);
  }

 private:
  char At(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  /// "-5", "+.5", ".5"; but the point in "a.5" belongs to the name.
  bool StartsNumber(std::size_t at) const {
    if (At(at) == '-' || At(at) == '+') ++at;
    return IsDigit(At(at)) || (At(at) == '.' && IsDigit(At(at + 1)));
  }

  Token Name(std::size_t start) {
    while (IsNamePart(At(at_))) ++at_;
    return {Token::Kind::kName, std::string(text_.substr(start, at_ - start)), start};
  }

  Result<Token> Number(std::size_t start) {
    if (At(at_) == '-' || At(at_) == '+') ++at_;
    while (IsDigit(At(at_))) ++at_;
    if (At(at_) == '.') ++at_;
    while (IsDigit(At(at_))) ++at_;
    if (At(at_) == 'e' || At(at_) == 'E') {
      ++at_;
      if (At(at_) == '-' || At(at_) == '+') ++at_;
      if (!IsDigit(At(at_))) return FilterError(start, "a number without digits after the e");
      while (IsDigit(At(at_))) ++at_;
    }
    if (IsNamePart(At(at_))) {
      return FilterError(start, "names that start with a digit need double quotes");
    }
    return Token{Token::Kind::kNumber, std::string(text_.substr(start, at_ - start)), start};
  }

  /// A doubled quote stands for itself.
  Result<Token> Quotation(std::size_t start, Token::Kind kind) {
    const char quote = text_[at_++];
    std::string content;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        content.push_back(c);
      } else if (At(at_) == quote) {
        content.push_back(quote);
        ++at_;
      } else {
        return Token{kind, std::move(content), start};
      }
    }
    return FilterError(start, fmt::format("the closing {} is missing", quote));
  }

  Result<Token> Sign(std::size_t start) {
    constexpr std::string_view kSigns[] = {"<>", "!=", "<=", ">=", "==", "=",
                                           "<",  ">",  "(",  ")",  ",",  "."};
    for (const std::string_view sign : kSigns) {
      if (!text_.substr(start).starts_with(sign)) continue;
      at_ += sign.size();
      const std::string_view text = sign == "<>" ? "!=" : sign == "==" ? "=" : sign;
      return Token{Token::Kind::kSign, std::string(text), start};
    }
    return FilterError(start, fmt::format("unexpected character '{}'", text_[start]));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> TokenizeExpression(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(text);
  do {
    IW_ASSIGN(Token token, lexer.Next());
    tokens.push_back(std::move(token));
  } while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

bool IsKeyword(std::string_view word) {
  constexpr std::string_view kKeywords[] = {"and",  "or",  "not",  "in",   "between", "is",
                                            "null", "nan", "like", "true", "false"};
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(std::begin(kKeywords), std::end(kKeywords), lower) != std::end(kKeywords);
}

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

Error FilterError(std::size_t position, std::string_view problem) {
  return {Code::kInvalidArgument, fmt::format("filter, position {}: {}", position + 1, problem)};
}

}  // namespace icewright
