#include "icewright/schema_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codec/json.h"

namespace icewright::cli {
namespace {

std::string Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// Splits at commas outside parentheses and brackets.
std::vector<std::string> SplitTop(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (std::string part = Trim(text.substr(start, i - start)); !part.empty())
        parts.push_back(std::move(part));
      start = i + 1;
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']') {
      --depth;
    }
  }
  return parts;
}

Result<const Field*> Column(const Schema& schema, const std::string& name) {
  if (const Field* field = schema.Find(name)) return field;
  std::vector<std::string_view> known;
  for (const Field& field : schema.fields()) known.push_back(field.name);
  return Error(Code::kInvalidArgument,
               fmt::format("no column named '{}'{}", name, DidYouMean(name, known)));
}

Result<PartitionField> ParsePartitionField(const Schema& schema, const std::string& text) {
  std::string word;
  std::string column = text;
  if (const std::size_t open = text.find('('); open != std::string::npos && text.ends_with(')')) {
    word = ToLower(Trim(text.substr(0, open)));
    const auto arguments =
        SplitTop(std::string_view(text).substr(open + 1, text.size() - open - 2));
    if (arguments.empty() || arguments.size() > 2) {
      return Error(Code::kInvalidArgument, fmt::format("partition '{}' takes a column", text));
    }
    column = arguments.back();
    if (arguments.size() == 2) word += "[" + arguments.front() + "]";
    if (word.ends_with('s') && arguments.size() == 1) word.pop_back();  // years(ts), days(ts)
  } else {
    word = "identity";
  }
  const Transform transform = Transform::Parse(word);
  if (transform.kind() == Transform::Kind::kUnknown) {
    return Error(Code::kInvalidArgument,
                 fmt::format("partition '{}' has no known transform: identity, bucket(N, c), "
                             "truncate(W, c), year(c), month(c), day(c), hour(c) or void(c)",
                             text));
  }
  IW_ASSIGN(const Field* field, Column(schema, column));
  if (!transform.CanTransform(field->type)) {
    return Error(Code::kInvalidArgument, fmt::format("partition '{}': {} cannot take a {}", text,
                                                     transform.text(), field->type.ToString()));
  }
  const std::string kind = transform.text().substr(0, transform.text().find('['));
  const std::string suffix = transform.kind() == Transform::Kind::kIdentity   ? ""
                             : transform.kind() == Transform::Kind::kTruncate ? "_trunc"
                             : transform.kind() == Transform::Kind::kVoid     ? "_null"
                                                                              : "_" + kind;
  return PartitionField{.source_ids = {field->id}, .name = column + suffix, .transform = transform};
}

}  // namespace

Result<Schema> ParseSchemaText(std::string_view text, const std::vector<std::string>& identifier) {
  if (Trim(text).starts_with('{')) {
    const auto json = ParseJson(text);
    if (!json) return Error(Code::kInvalidArgument, "--schema: " + json.error().message());
    auto schema = Schema::FromJson(*json);
    if (!schema) return Error(Code::kInvalidArgument, "--schema: " + schema.error().message());
    return *std::move(schema);
  }
  std::vector<Field> fields;
  for (const std::string& part : SplitTop(text)) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) {
      return Error(Code::kInvalidArgument, fmt::format("--schema: '{}' is not NAME:TYPE", part));
    }
    std::string type_text = Trim(std::string_view(part).substr(colon + 1));
    const bool required = type_text.ends_with('!');
    if (required) type_text.pop_back();
    const auto type = Type::Parse(type_text);
    if (!type)
      return Error(Code::kInvalidArgument,
                   fmt::format("--schema: '{}': {}", part, type.error().message()));
    fields.push_back({.id = FieldId{static_cast<std::int32_t>(fields.size()) + 1},
                      .name = Trim(std::string_view(part).substr(0, colon)),
                      .required = required,
                      .type = *type});
  }
  if (fields.empty()) return Error(Code::kInvalidArgument, "--schema names no column");
  const Schema schema(fields, SchemaId{0});
  std::vector<FieldId> ids;
  for (const std::string& name : identifier) {
    IW_ASSIGN(const Field* field, Column(schema, name));
    ids.push_back(field->id);
  }
  return Schema(std::move(fields), SchemaId{0}, std::move(ids));
}

Result<PartitionSpec> ParsePartitionText(const Schema& schema, std::string_view text) {
  PartitionSpec spec;
  for (const std::string& part : SplitTop(text)) {
    IW_ASSIGN(PartitionField field, ParsePartitionField(schema, part));
    field.field_id = FieldId{static_cast<std::int32_t>(1000 + spec.fields.size())};
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

}  // namespace icewright::cli
