// Any text: parsing ends in a filter or an error; a filter's own text is the same filter.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "table/expression.h"

namespace {

using icewright::Field;
using icewright::FieldId;
using icewright::Type;
using icewright::TypeId;

icewright::Schema FuzzSchema() {
  std::vector<Field> fields;
  const auto add = [&fields](std::string name, Type type) {
    const FieldId id{static_cast<std::int32_t>(fields.size() + 1)};
    fields.push_back(Field{.id = id, .name = std::move(name), .type = std::move(type)});
  };
  for (const TypeId id : {TypeId::kBoolean, TypeId::kInt, TypeId::kLong, TypeId::kFloat,
                          TypeId::kDouble, TypeId::kDate, TypeId::kTime, TypeId::kTimestamp,
                          TypeId::kTimestampTz, TypeId::kTimestampNs, TypeId::kTimestampTzNs,
                          TypeId::kString, TypeId::kUuid, TypeId::kBinary}) {
    add(Type::Of(id).ToString(), Type::Of(id));
  }
  add("d", Type::Decimal(9, 2));
  add("f", Type::Fixed(2));
  return icewright::Schema(std::move(fields));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace icewright;
  static const Schema schema = FuzzSchema();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseExpression(schema, text);
  if (!parsed) return 0;
  const auto null_of = [](FieldId) { return Literal(); };
  if (Evaluate(*parsed, null_of) != Evaluate(parsed->WithoutNot(), null_of)) std::abort();
  const std::string written = parsed->ToString(schema);
  // The text has more parentheses than the input may have had, and nesting is limited.
  if (std::count(written.begin(), written.end(), '(') > 50) return 0;
  const auto again = ParseExpression(schema, written);
  if (!again || again->ToString(schema) != written) std::abort();
  return 0;
}
