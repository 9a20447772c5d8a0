// Sort orders as people write them: "a asc nulls first, bucket(4, b) desc, days(ts)".

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "table/sort_order.h"

namespace icewright {
namespace {

template <typename... Args>
Error Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument,
               "sort order: " + fmt::format(format, std::forward<Args>(args)...));
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Splits where `is_end(c)` holds outside of parentheses and backticks; empty parts are kept.
template <typename IsEnd>
std::vector<std::string_view> Split(std::string_view text, const IsEnd& is_end) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && is_end(c)) {
      parts.push_back(Trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  parts.push_back(Trim(text.substr(start)));
  return parts;
}

Result<const Field*> FindColumn(const Schema& schema, std::string_view name) {
  if (name.size() > 2 && name.front() == '`' && name.back() == '`') {
    name = name.substr(1, name.size() - 2);
  }
  const Field* field = schema.Find(name);
  if (field == nullptr) field = schema.Find(name, /*case_sensitive=*/false);
  if (field == nullptr) return Bad("there is no column \"{}\"", name);
  return field;
}

struct Term {
  Transform transform;
  const Field* column;
};

/// "bucket(4, b)", "truncate(b, 4)": number and column in either order.
Result<Term> ParseSizedTerm(const Schema& schema, bool is_bucket, std::string_view text,
                            const std::vector<std::string_view>& arguments) {
  if (arguments.size() != 2) return Bad("\"{}\" needs a number and a column", text);
  for (const std::size_t position : {0U, 1U}) {
    const std::string_view digits = arguments[position];
    int number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc{} || end != digits.data() + digits.size()) continue;
    if (number <= 0) return Bad("\"{}\" needs a positive number", text);
    IW_ASSIGN(const Field* column, FindColumn(schema, arguments[1 - position]));
    return Term{is_bucket ? Transform::Bucket(number) : Transform::Truncate(number), column};
  }
  return Bad("\"{}\" needs a number and a column", text);
}

Result<Term> ParseTerm(const Schema& schema, std::string_view text) {
  const std::size_t open = text.front() == '`' ? std::string_view::npos : text.find('(');
  if (open == std::string_view::npos) {
    IW_ASSIGN(const Field* column, FindColumn(schema, text));
    return Term{Transform(), column};
  }
  if (text.back() != ')') return Bad("\"{}\" has no closing parenthesis", text);
  const std::string function = Lower(Trim(text.substr(0, open)));
  const auto arguments =
      Split(text.substr(open + 1, text.size() - open - 2), [](char c) { return c == ','; });
  if (function == "bucket" || function == "truncate") {
    return ParseSizedTerm(schema, function == "bucket", text, arguments);
  }
  constexpr std::pair<std::string_view, Transform::Kind> kFunctions[] = {
      {"identity", Transform::Kind::kIdentity}, {"year", Transform::Kind::kYear},
      {"years", Transform::Kind::kYear},        {"month", Transform::Kind::kMonth},
      {"months", Transform::Kind::kMonth},      {"day", Transform::Kind::kDay},
      {"days", Transform::Kind::kDay},          {"date", Transform::Kind::kDay},
      {"hour", Transform::Kind::kHour},         {"hours", Transform::Kind::kHour},
      {"date_hour", Transform::Kind::kHour},
  };
  for (const auto& [name, kind] : kFunctions) {
    if (name != function) continue;
    if (arguments.size() != 1) return Bad("\"{}\" needs one column", text);
    IW_ASSIGN(const Field* column, FindColumn(schema, arguments.front()));
    return Term{Transform::Of(kind), column};
  }
  return Bad("there is no transform \"{}\"", function);
}

/// What follows the term: [asc | desc] [nulls first | nulls last].
Status ParseModifiers(const std::vector<std::string_view>& words, std::string_view part,
                      SortField& field) {
  std::size_t i = 0;
  if (i < words.size() && (Lower(words[i]) == "asc" || Lower(words[i]) == "desc")) {
    if (Lower(words[i]) == "desc") field.direction = SortField::Direction::kDesc;
    ++i;
  }
  field.nulls = field.direction == SortField::Direction::kAsc ? SortField::Nulls::kFirst
                                                              : SortField::Nulls::kLast;
  if (i == words.size()) return {};
  const bool is_nulls = Lower(words[i]) == "nulls" && i + 2 == words.size();
  const std::string last = Lower(words.back());
  if (!is_nulls || (last != "first" && last != "last")) {
    return Bad("\"{}\": \"{}\" is none of asc, desc, nulls first, nulls last", part, words[i]);
  }
  field.nulls = last == "first" ? SortField::Nulls::kFirst : SortField::Nulls::kLast;
  return {};
}

Result<SortField> ParseField(const Schema& schema, std::string_view part) {
  if (part.empty()) return Bad("there is an empty part");
  std::vector<std::string_view> words = Split(part, IsSpace);
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  // "bucket (4, b)" is one term.
  std::string_view term_text = words.front();
  words.erase(words.begin());
  if (!words.empty() && words.front().starts_with('(')) {
    const char* end = words.front().data() + words.front().size();
    term_text =
        std::string_view(term_text.data(), static_cast<std::size_t>(end - term_text.data()));
    words.erase(words.begin());
  }
  IW_ASSIGN(const Term term, ParseTerm(schema, term_text));
  if (!term.column->type.is_primitive() || !term.transform.CanTransform(term.column->type)) {
    return Bad("{} cannot take column \"{}\" of type {}", term.transform.text(),
               schema.NameOf(term.column->id), term.column->type.ToString());
  }
  SortField field;
  field.source_ids = {term.column->id};
  field.transform = term.transform;
  IW_TRY(ParseModifiers(words, part, field));
  return field;
}

}  // namespace

Result<SortOrder> SortOrder::Parse(const Schema& schema, std::string_view text) {
  SortOrder order;
  for (const std::string_view part : Split(text, [](char c) { return c == ','; })) {
    IW_ASSIGN(SortField field, ParseField(schema, part));
    order.fields.push_back(std::move(field));
  }
  return order;
}

}  // namespace icewright
