#include "codec/avro/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "codec/json.h"

namespace icewright::avro {
namespace {

constexpr int kMaxDepth = 500;
constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;  // where min_bytes stops to count

constexpr std::pair<std::string_view, Kind> kPrimitives[] = {
    {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},
    {"long", Kind::kLong},   {"float", Kind::kFloat},     {"double", Kind::kDouble},
    {"bytes", Kind::kBytes}, {"string", Kind::kString},
};

std::optional<Kind> PrimitiveKind(std::string_view name) {
  for (const auto& [primitive, kind] : kPrimitives) {
    if (primitive == name) return kind;
  }
  return std::nullopt;
}

Error Corrupt(std::string message) { return Error(Code::kCorrupt, std::move(message)); }

/// A node with what it expands to: named types that are used again count each time.
struct Node {
  SchemaPtr schema;
  int depth = 1;
  std::int64_t nodes = 1;
};

class Parser {
 public:
  Result<Node> Parse(const Json& json, const std::string& space);

 private:
  Result<Node> ParseReference(const std::string& name, const std::string& space);
  Result<Node> ParseObject(const Json& json, const std::string& space);
  Result<Node> ParseUnion(const Json& json, const std::string& space);
  Result<Node> ParseRecord(const Json& json, const std::string& space);
  Result<Node> ParseFixed(const Json& json, const std::string& space);
  Result<Node> ParseEnum(const Json& json, const std::string& space);
  Result<Node> ParseContainer(Kind kind, const Json& json, const std::string& space);
  Result<std::string> DefineName(const Json& json, const std::string& space);
  Node Named(std::string name, Node node);

  std::map<std::string, Node> names_;  // a null schema: the definition is not complete yet
};

/// Adds a child's expansion to its parent's.
Status Absorb(const Node& child, Node& parent) {
  parent.depth = std::max(parent.depth, child.depth + 1);
  parent.nodes += child.nodes;
  if (parent.depth > kMaxDepth) {
    return Error(Code::kUnsupported, fmt::format("types nest deeper than {} levels", kMaxDepth));
  }
  if (parent.nodes > kMaxNodes) {
    return Error(Code::kUnsupported, fmt::format("types expand to more than {} nodes", kMaxNodes));
  }
  return {};
}

Result<std::optional<std::int32_t>> FindId(const Json& json, std::string_view key) {
  IW_ASSIGN(const std::optional<std::int64_t> id, FindInt(json, key));
  if (!id) return std::optional<std::int32_t>();
  if (*id < std::numeric_limits<std::int32_t>::min() ||
      *id > std::numeric_limits<std::int32_t>::max()) {
    return Corrupt(fmt::format("'{}' is {}, which does not fit 32 bits", key, *id));
  }
  return std::optional(static_cast<std::int32_t>(*id));
}

std::string NamespaceOf(const std::string& full_name) {
  const auto dot = full_name.rfind('.');
  return dot == std::string::npos ? std::string() : full_name.substr(0, dot);
}

std::int64_t MinBytes(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return 0;
    case Kind::kFloat:
      return 4;
    case Kind::kDouble:
      return 8;
    default:
      return 1;
  }
}

/// "logicalType" with its attributes; one that makes no sense is left out.
void ReadLogicalType(const Json& json, Schema& schema) {
  const auto type = FindString(json, "logicalType");
  if (!type || !type->has_value()) return;
  if (**type == "decimal") {
    const auto precision = FindInt(json, "precision");
    const auto scale = FindInt(json, "scale");
    if (!precision || !scale || !precision->has_value()) return;
    const std::int64_t p = **precision;
    const std::int64_t s = scale->value_or(0);
    if (p < 1 || p > std::numeric_limits<std::int32_t>::max() || s < 0 || s > p) return;
    schema.precision = static_cast<int>(p);
    schema.scale = static_cast<int>(s);
  }
  schema.logical_type = **type;
  if (const auto adjust = GetBool(json, "adjust-to-utc")) schema.adjust_to_utc = *adjust;
}

Result<Node> Parser::Parse(const Json& json, const std::string& space) {
  if (json.is_string()) return ParseReference(json.get_ref<const std::string&>(), space);
  if (json.is_array()) return ParseUnion(json, space);
  if (json.is_object()) return ParseObject(json, space);
  return Corrupt(fmt::format("{} is no type", DumpJson(json)));
}

Result<Node> Parser::ParseReference(const std::string& name, const std::string& space) {
  if (const auto kind = PrimitiveKind(name)) {
    auto schema = std::make_shared<Schema>();
    schema->kind = *kind;
    schema->min_bytes = MinBytes(*kind);
    return Node{std::move(schema)};
  }
  auto it = names_.end();
  if (name.find('.') == std::string::npos && !space.empty()) it = names_.find(space + "." + name);
  if (it == names_.end()) it = names_.find(name);
  if (it == names_.end()) return Corrupt(fmt::format("type '{}' is not defined", name));
  if (it->second.schema == nullptr) {
    return Error(Code::kUnsupported, fmt::format("type '{}' contains itself", it->first));
  }
  return it->second;
}

Result<Node> Parser::ParseObject(const Json& json, const std::string& space) {
  const auto type = json.find("type");
  if (type == json.end()) return Corrupt("a type without 'type'");
  if (!type->is_string()) return Parse(*type, space);  // {"type": {"type": ...}}
  const std::string& name = type->get_ref<const std::string&>();
  if (name == "record" || name == "error") return ParseRecord(json, space);
  if (name == "fixed") return ParseFixed(json, space);
  if (name == "enum") return ParseEnum(json, space);
  if (name == "array") return ParseContainer(Kind::kArray, json, space);
  if (name == "map") return ParseContainer(Kind::kMap, json, space);
  IW_ASSIGN(Node node, ParseReference(name, space));
  if (!PrimitiveKind(name)) return node;
  auto schema = std::make_shared<Schema>(*node.schema);
  ReadLogicalType(json, *schema);
  node.schema = std::move(schema);
  return node;
}

Result<Node> Parser::ParseUnion(const Json& json, const std::string& space) {
  Node node;
  auto schema = std::make_shared<Schema>();
  schema->kind = Kind::kUnion;
  schema->min_bytes = 1;
  for (const Json& branch : json) {
    IW_ASSIGN(Node child, Parse(branch, space));
    if (child.schema->kind == Kind::kUnion) return Corrupt("a union inside a union");
    IW_TRY(Absorb(child, node));
    schema->branches.push_back(std::move(child.schema));
  }
  node.schema = std::move(schema);
  return node;
}

Result<std::string> Parser::DefineName(const Json& json, const std::string& space) {
  IW_ASSIGN(std::string name, GetString(json, "name"));
  if (name.empty()) return Corrupt("a named type with an empty name");
  if (name.find('.') == std::string::npos) {
    IW_ASSIGN(const std::optional<std::string> own, FindString(json, "namespace"));
    const std::string& prefix = own ? *own : space;
    if (!prefix.empty()) name = prefix + "." + name;
  }
  const auto it = names_.find(name);
  if (it != names_.end() && it->second.schema == nullptr) {
    return Corrupt(fmt::format("type '{}' is defined inside itself", name));
  }
  names_[name] = Node{};
  return name;
}

Node Parser::Named(std::string name, Node node) {
  names_[std::move(name)] = node;
  return node;
}

Result<Node> Parser::ParseRecord(const Json& json, const std::string& space) {
  IW_ASSIGN(std::string name, DefineName(json, space));
  const std::string inner_space = NamespaceOf(name);
  Node node;
  auto schema = std::make_shared<Schema>();
  schema->kind = Kind::kRecord;
  schema->name = name;
  std::set<std::string_view> seen;
  IW_ASSIGN(const Json* fields, GetArray(json, "fields").Within("record " + name));
  schema->fields.reserve(fields->size());
  for (const Json& field : *fields) {
    RecordField out;
    IW_ASSIGN(out.name, GetString(field, "name").Within("field of record " + name));
    const std::string where = fmt::format("field {}.{}", name, out.name);
    IW_ASSIGN(out.field_id, FindId(field, "field-id").Within(where));
    const auto type = field.find("type");
    if (type == field.end()) return Corrupt(where + " has no 'type'");
    IW_ASSIGN(Node child, Parse(*type, inner_space).Within(where));
    IW_TRY(Absorb(child, node));
    schema->min_bytes = std::min(kMaxBytes, schema->min_bytes + child.schema->min_bytes);
    out.schema = std::move(child.schema);
    schema->fields.push_back(std::move(out));
    if (!seen.insert(field.find("name")->get_ref<const std::string&>()).second) {
      return Corrupt(where + " is there twice");
    }
  }
  node.schema = std::move(schema);
  return Named(std::move(name), std::move(node));
}

Result<Node> Parser::ParseFixed(const Json& json, const std::string& space) {
  IW_ASSIGN(std::string name, DefineName(json, space));
  IW_ASSIGN(const std::int64_t size, GetInt(json, "size").Within("fixed " + name));
  if (size < 0 || size > std::numeric_limits<std::int32_t>::max()) {
    return Corrupt(fmt::format("fixed {} has the size {}", name, size));
  }
  auto schema = std::make_shared<Schema>();
  schema->kind = Kind::kFixed;
  schema->name = name;
  schema->size = static_cast<int>(size);
  schema->min_bytes = size;
  ReadLogicalType(json, *schema);
  return Named(std::move(name), Node{std::move(schema)});
}

Result<Node> Parser::ParseEnum(const Json& json, const std::string& space) {
  IW_ASSIGN(std::string name, DefineName(json, space));
  auto schema = std::make_shared<Schema>();
  schema->kind = Kind::kEnum;
  schema->name = name;
  schema->min_bytes = 1;
  IW_ASSIGN(const Json* symbols, GetArray(json, "symbols").Within("enum " + name));
  for (const Json& symbol : *symbols) {
    if (!symbol.is_string()) return Corrupt(fmt::format("a symbol of enum {} is no string", name));
    schema->symbols.push_back(symbol.get<std::string>());
  }
  return Named(std::move(name), Node{std::move(schema)});
}

Result<Node> Parser::ParseContainer(Kind kind, const Json& json, const std::string& space) {
  const std::string_view of = kind == Kind::kArray ? "items" : "values";
  const auto type = json.find(of);
  if (type == json.end()) return Corrupt(fmt::format("a container without '{}'", of));
  IW_ASSIGN(Node child, Parse(*type, space).Within(of));
  Node node;
  IW_TRY(Absorb(child, node));
  auto schema = std::make_shared<Schema>();
  schema->kind = kind;
  schema->min_bytes = 1;
  schema->items = std::move(child.schema);
  IW_ASSIGN(schema->element_id, FindId(json, "element-id"));
  IW_ASSIGN(schema->key_id, FindId(json, "key-id"));
  IW_ASSIGN(schema->value_id, FindId(json, "value-id"));
  ReadLogicalType(json, *schema);
  node.schema = std::move(schema);
  return node;
}

}  // namespace

std::optional<Schema::Optional> Schema::AsOptional() const {
  if (kind != Kind::kUnion || branches.size() != 2) return std::nullopt;
  const int null_index = branches[0]->kind == Kind::kNull ? 0 : 1;
  const Schema* other = branches[static_cast<std::size_t>(1 - null_index)].get();
  if (branches[static_cast<std::size_t>(null_index)]->kind != Kind::kNull ||
      other->kind == Kind::kNull) {
    return std::nullopt;
  }
  return Optional{null_index, other};
}

Result<SchemaPtr> ParseSchema(std::string_view json) {
  IW_ASSIGN(const Json parsed, ParseJson(json).Within("Avro schema"));
  IW_ASSIGN(Node node, Parser().Parse(parsed, "").Within("Avro schema"));
  return std::move(node.schema);
}

}  // namespace icewright::avro
