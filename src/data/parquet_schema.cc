#include "data/parquet_schema.h"

#include <fmt/format.h>
#include <parquet/types.h>

#include <string_view>
#include <utility>

#include "base/text.h"

namespace icewright {
namespace {

using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

NodePtr Leaf(const std::string& name, Repetition::type repetition, int id,
             std::shared_ptr<const LogicalType> logical, parquet::Type::type physical,
             int length = -1) {
  return PrimitiveNode::Make(name, repetition, std::move(logical), physical, length, id);
}

// Parquet's default crs and algorithm are Iceberg's. The default crs is left out: older readers
// know only that. Errors: kUnsupported for an algorithm that Parquet does not know.
Result<std::shared_ptr<const LogicalType>> Geospatial(const Field& field) {
  using Algorithm = LogicalType::EdgeInterpolationAlgorithm;
  constexpr std::pair<std::string_view, Algorithm> kAlgorithms[] = {
      {"spherical", Algorithm::SPHERICAL},
      {"vincenty", Algorithm::VINCENTY},
      {"thomas", Algorithm::THOMAS},
      {"andoyer", Algorithm::ANDOYER},
      {"karney", Algorithm::KARNEY}};
  constexpr std::string_view kDefaultCrs = "OGC:CRS84";
  const std::string text = field.type.ToString();  // "geography(srid:4326, karney)"
  const std::size_t open = text.find('(');
  std::string crs = open == std::string::npos ? "" : text.substr(open + 1, text.size() - open - 2);
  if (field.type.id() == TypeId::kGeometry) {
    return LogicalType::Geometry(crs == kDefaultCrs ? "" : std::move(crs));
  }
  std::string algorithm = "spherical";
  if (const std::size_t comma = crs.find(','); comma != std::string::npos) {
    algorithm = ToLower(std::string_view(crs).substr(comma + 2));
    crs.resize(comma);
  }
  for (const auto& [name, value] : kAlgorithms) {
    if (name != algorithm) continue;
    return LogicalType::Geography(crs == kDefaultCrs ? "" : std::move(crs), value);
  }
  return Error(
      Code::kUnsupported,
      fmt::format("column {} of type {}: Parquet has no such edge algorithm", field.name, text));
}

// Errors: kUnsupported.
Result<NodePtr> Primitive(const std::string& name, Repetition::type repetition,
                          const Field& field) {
  const Type& type = field.type;
  const auto leaf = [&](std::shared_ptr<const LogicalType> logical, parquet::Type::type physical,
                        int length = -1) {
    return Leaf(name, repetition, Raw(field.id), std::move(logical), physical, length);
  };
  using Unit = LogicalType::TimeUnit;
  switch (type.id()) {
    case TypeId::kBoolean:
      return leaf(LogicalType::None(), parquet::Type::BOOLEAN);
    case TypeId::kInt:
      return leaf(LogicalType::None(), parquet::Type::INT32);
    case TypeId::kLong:
      return leaf(LogicalType::None(), parquet::Type::INT64);
    case TypeId::kFloat:
      return leaf(LogicalType::None(), parquet::Type::FLOAT);
    case TypeId::kDouble:
      return leaf(LogicalType::None(), parquet::Type::DOUBLE);
    case TypeId::kDate:
      return leaf(LogicalType::Date(), parquet::Type::INT32);
    case TypeId::kTime:
      return leaf(LogicalType::Time(false, Unit::MICROS), parquet::Type::INT64);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return leaf(LogicalType::Timestamp(type.id() == TypeId::kTimestampTz, Unit::MICROS),
                  parquet::Type::INT64);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return leaf(LogicalType::Timestamp(type.id() == TypeId::kTimestampTzNs, Unit::NANOS),
                  parquet::Type::INT64);
    case TypeId::kString:
      return leaf(LogicalType::String(), parquet::Type::BYTE_ARRAY);
    case TypeId::kBinary:
      return leaf(LogicalType::None(), parquet::Type::BYTE_ARRAY);
    case TypeId::kUuid:
      return leaf(LogicalType::UUID(), parquet::Type::FIXED_LEN_BYTE_ARRAY, 16);
    case TypeId::kFixed:
      return leaf(LogicalType::None(), parquet::Type::FIXED_LEN_BYTE_ARRAY, type.length());
    case TypeId::kDecimal: {
      auto logical = LogicalType::Decimal(type.precision(), type.scale());
      if (type.precision() <= 9) return leaf(std::move(logical), parquet::Type::INT32);
      if (type.precision() <= 18) return leaf(std::move(logical), parquet::Type::INT64);
      return leaf(std::move(logical), parquet::Type::FIXED_LEN_BYTE_ARRAY,
                  FixedDecimalSize(type.precision()));
    }
    case TypeId::kGeometry:
    case TypeId::kGeography: {
      IW_ASSIGN(auto logical, Geospatial(field));
      return leaf(std::move(logical), parquet::Type::BYTE_ARRAY);
    }
    default:
      return Error(Code::kUnsupported, fmt::format("column {} of type {} cannot be written",
                                                   field.name, type.ToString()));
  }
}

Result<NodePtr> ToNode(const Field& field, const std::string& name);

Result<NodeVector> ToNodes(const std::vector<Field>& fields) {
  NodeVector nodes;
  for (const Field& field : fields) {
    if (field.type.id() == TypeId::kUnknown) continue;
    IW_ASSIGN(NodePtr node, ToNode(field, FileColumnName(field.name)));
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) return Error(Code::kUnsupported, "a struct without columns cannot be written");
  return nodes;
}

Result<NodePtr> ToNode(const Field& field, const std::string& name) {
  const auto repetition = field.required ? Repetition::REQUIRED : Repetition::OPTIONAL;
  const int id = Raw(field.id);
  const std::vector<Field>& children = field.type.fields();
  switch (field.type.id()) {
    case TypeId::kStruct: {
      IW_ASSIGN(NodeVector nodes, ToNodes(children));
      return GroupNode::Make(name, repetition, nodes, parquet::ConvertedType::NONE, id);
    }
    case TypeId::kList: {
      IW_ASSIGN(NodePtr element, ToNode(children[0], "element"));
      NodePtr list = GroupNode::Make("list", Repetition::REPEATED, {std::move(element)});
      return GroupNode::Make(name, repetition, {std::move(list)}, LogicalType::List(), id);
    }
    case TypeId::kMap: {
      IW_ASSIGN(NodePtr key, ToNode(children[0], "key"));
      IW_ASSIGN(NodePtr value, ToNode(children[1], "value"));
      NodePtr entries =
          GroupNode::Make("key_value", Repetition::REPEATED, {std::move(key), std::move(value)});
      return GroupNode::Make(name, repetition, {std::move(entries)}, LogicalType::Map(), id);
    }
    default:
      return Primitive(name, repetition, field);
  }
}

void CollectLeaves(const Field& field, ParquetLeaf at, std::vector<ParquetLeaf>& out) {
  if (field.type.id() == TypeId::kUnknown) return;
  if (!field.type.is_nested()) {
    at.field = field;
    out.push_back(std::move(at));
    return;
  }
  at.nested = true;
  const TypeId id = field.type.id();
  const std::string prefix = at.path + (id == TypeId::kList  ? ".list."
                                        : id == TypeId::kMap ? ".key_value."
                                                             : ".");
  for (const Field& child : field.type.fields()) {
    at.path = prefix + (id == TypeId::kStruct ? FileColumnName(child.name) : child.name);
    CollectLeaves(child, at, out);
  }
}

}  // namespace

int FixedDecimalSize(int precision) {
  Int128 largest = 1;
  for (int i = 0; i < precision; ++i) largest *= 10;
  int size = 1;
  while (size < 16 && (static_cast<Int128>(1) << (8 * size - 1)) < largest) ++size;
  return size;
}

std::string FileColumnName(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (IsLetter(c) || (IsDigit(c) && i > 0)) {
      out += c;
    } else if (IsDigit(c)) {
      out += '_';
      out += c;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      out += c;
    } else {
      out += fmt::format("_x{:X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Result<std::shared_ptr<GroupNode>> ToParquetSchema(const Schema& schema) {
  IW_ASSIGN(NodeVector nodes, ToNodes(schema.fields()));
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("table", Repetition::REQUIRED, nodes));
}

std::vector<ParquetLeaf> ParquetLeaves(const Schema& schema) {
  std::vector<ParquetLeaf> out;
  int top_level = 0;
  for (const Field& field : schema.fields()) {
    ParquetLeaf leaf;
    leaf.top_level = top_level++;
    leaf.path = FileColumnName(field.name);
    CollectLeaves(field, std::move(leaf), out);
  }
  return out;
}

}  // namespace icewright
