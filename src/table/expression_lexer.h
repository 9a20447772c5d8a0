#pragma once

/// \file table/expression_lexer.h
/// Words and signs of filter text.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace icewright {

struct Token {
  enum class Kind : std::uint8_t {
    kName,    ///< text: one part of a name, without quotes
    kQuoted,  ///< the same, from "name" or `name`: never a keyword
    kNumber,  ///< text: as written, with its sign
    kString,  ///< text: without quotes
    kSign,    ///< text: = != < <= > >= ( ) , .
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  std::size_t position = 0;  ///< byte offset in the input
};

/// Ends with a kEnd token. Errors: kInvalidArgument with the position.
Result<std::vector<Token>> TokenizeExpression(std::string_view text);

/// In any case: and, or, not, in, between, is, null, nan, like, true, false.
bool IsKeyword(std::string_view word);

/// Characters of names that need no quotes: letters (all of non-ASCII), '_', then digits, too.
bool IsNameStart(char c);
bool IsNamePart(char c);

/// "filter, position 7: <problem>", counted from 1.
Error FilterError(std::size_t position, std::string_view problem);

}  // namespace icewright
