#include "data/projection.h"

#include <arrow/array.h>
#include <arrow/type.h>

#include <algorithm>

#include "data/arrow_schema.h"

namespace icewright {
namespace {

using DataPtr = std::shared_ptr<arrow::ArrayData>;

/// The child of a struct (or a top-level column) with this id.
template <typename Fields>
auto* FindById(Fields& fields, FieldId id) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [id](const SourceField& field) { return field.id == id; });
  return it == fields.end() ? nullptr : &*it;
}

bool IsList(const SourceField& source) { return source.type->id() == arrow::Type::LIST; }
bool IsMap(const SourceField& source) { return source.type->id() == arrow::Type::MAP; }
bool IsStruct(const SourceField& source) { return source.type->id() == arrow::Type::STRUCT; }

bool SameShape(const Type& type, const SourceField& source) {
  switch (type.id()) {
    case TypeId::kStruct:
      return IsStruct(source);
    case TypeId::kList:
      return IsList(source) && source.children.size() == 1;
    case TypeId::kMap:
      return IsMap(source) && source.children.size() == 2;
    default:
      return false;
  }
}

void MarkFirstLeaf(SourceField& source) {
  source.selected = true;
  if (IsMap(source)) {  // a map is read with its keys
    SelectAll(source.children[0]);
    MarkFirstLeaf(source.children[1]);
  } else if (!source.children.empty()) {
    MarkFirstLeaf(source.children[0]);
  }
}

void MarkField(const Field& field, SourceField& source) {
  source.selected = true;
  if (!field.type.is_nested() || !SameShape(field.type, source)) {
    SelectAll(source);
    return;
  }
  if (IsStruct(source)) {
    for (const Field& child : field.type.fields()) {
      if (SourceField* match = FindById(source.children, child.id)) MarkField(child, *match);
    }
  } else if (IsList(source)) {
    MarkField(field.type.fields()[0], source.children[0]);
  } else {
    SelectAll(source.children[0]);
    MarkField(field.type.fields()[1], source.children[1]);
  }
  const bool any = std::any_of(source.children.begin(), source.children.end(),
                               [](const SourceField& child) { return child.selected; });
  if (!any && !source.children.empty()) MarkFirstLeaf(source);
}

/// Where a selected child is among its selected siblings.
int RankOf(const std::vector<SourceField>& siblings, const SourceField* source) {
  int rank = 0;
  for (const SourceField& field : siblings) {
    if (&field == source) return rank;
    rank += field.selected ? 1 : 0;
  }
  return -1;
}

/// True if everything the file has here is read and has the type that is wanted.
bool IsAsItIs(const arrow::DataType& wanted, const SourceField& source) {
  return std::all_of(source.children.begin(), source.children.end(),
                     [](const SourceField& child) { return child.selected; }) &&
         wanted.Equals(*source.type);
}

}  // namespace

void Projection::Mark(const std::vector<Field>& wanted, std::vector<SourceField>& source) {
  for (const Field& field : wanted) {
    if (field.type.id() == TypeId::kUnknown) continue;
    if (SourceField* match = FindById(source, field.id)) MarkField(field, *match);
  }
}

Result<Projection> Projection::Make(const std::vector<Field>& wanted,
                                    const std::vector<SourceField>& source,
                                    const PartitionConstants& constants) {
  Projection out;
  for (const Field& field : wanted) {
    IW_ASSIGN(Node node, MakeNode(field, source, FindById(source, field.id), constants));
    out.columns_.push_back(std::move(node));
  }
  return out;
}

Result<Projection::Node> Projection::MakeNode(const Field& field,
                                              const std::vector<SourceField>& siblings,
                                              const SourceField* source,
                                              const PartitionConstants& constants) {
  Node node;
  node.name = field.name;
  node.type = field.type;
  IW_ASSIGN(node.arrow_type, ToArrowType(field.type));
  if (source == nullptr || field.type.id() == TypeId::kUnknown) {
    const auto constant = constants.find(field.id);
    if (constant != constants.end()) {
      node.constant = constant->second;
    } else if (field.initial_default && field.type.is_primitive()) {
      node.constant = *field.initial_default;
    }
    return node;
  }
  node.source = RankOf(siblings, source);
  if (!field.type.is_nested()) {
    auto cast = CastFor(*source->type, field.type);
    if (!cast) return cast.error().Within("column '" + field.name + "'");
    node.cast = *cast;
    node.as_it_is = node.arrow_type->Equals(*source->type);
    return node;
  }
  if (!SameShape(field.type, *source)) {
    return Error(Code::kUnsupported, "column '" + field.name + "': the file stores " +
                                         source->type->ToString() + " where the table has " +
                                         field.type.ToString());
  }
  auto children = MakeChildren(field, *source, constants);
  if (!children) return children.error().Within("column '" + field.name + "'");
  node.children = std::move(*children);
  node.as_it_is = IsAsItIs(*node.arrow_type, *source) &&
                  std::all_of(node.children.begin(), node.children.end(),
                              [](const Node& child) { return child.as_it_is; });
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    node.as_it_is = node.as_it_is && node.children[i].source == static_cast<int>(i);
  }
  return node;
}

Result<std::vector<Projection::Node>> Projection::MakeChildren(
    const Field& field, const SourceField& source, const PartitionConstants& constants) {
  std::vector<Node> out;
  const std::vector<Field>& fields = field.type.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const SourceField* match =
        IsStruct(source) ? FindById(source.children, fields[i].id) : &source.children[i];
    IW_ASSIGN(Node child, MakeNode(fields[i], source.children, match, constants));
    out.push_back(std::move(child));
  }
  return out;
}

Result<DataPtr> Projection::Apply(const Node& node, const arrow::ArrayData& in,
                                  arrow::MemoryPool* pool) {
  if (node.children.empty() && node.cast.apply != nullptr) {
    auto out = node.cast.apply(in, node.arrow_type, pool);
    if (!out) return out.error().Within("column '" + node.name + "'");
    return std::move(out).value();
  }
  return ApplyNested(node, in, pool);
}

Result<DataPtr> Projection::ApplyNested(const Node& node, const arrow::ArrayData& in,
                                        arrow::MemoryPool* pool) {
  DataPtr out = in.Copy();
  out->type = node.arrow_type;
  const bool is_map = node.type.id() == TypeId::kMap;
  // Slots of the children: a struct's children are sliced with it, those of lists are not.
  const arrow::ArrayData& parent = is_map ? *in.child_data[0] : in;
  const std::int64_t slots =
      node.type.id() == TypeId::kList ? in.child_data[0]->length : parent.offset + parent.length;
  std::vector<DataPtr> children;
  for (const Node& child : node.children) {
    if (child.source < 0) {
      IW_ASSIGN(DataPtr made,
                ConstantArray(child.type, child.arrow_type, child.constant, slots, pool));
      children.push_back(std::move(made));
      continue;
    }
    IW_ASSIGN(DataPtr made,
              Apply(child, *parent.child_data[static_cast<std::size_t>(child.source)], pool));
    children.push_back(std::move(made));
  }
  if (!is_map) {
    out->child_data = std::move(children);
    return out;
  }
  DataPtr entries = parent.Copy();
  entries->type = static_cast<const arrow::MapType&>(*node.arrow_type).value_type();
  entries->child_data = std::move(children);
  out->child_data = {std::move(entries)};
  return out;
}

Result<std::shared_ptr<arrow::Array>> Projection::Convert(std::size_t i, const SourceBatch& batch,
                                                          arrow::MemoryPool* pool) const {
  const Node& node = columns_[i];
  if (node.source < 0) return Constant(i, batch.rows, pool);
  const auto& array = batch.columns[static_cast<std::size_t>(node.source)];
  if (node.as_it_is) return array;
  IW_ASSIGN(DataPtr data, Apply(node, *array->data(), pool));
  return arrow::MakeArray(std::move(data));
}

Result<std::shared_ptr<arrow::Array>> Projection::Constant(std::size_t i, std::int64_t rows,
                                                           arrow::MemoryPool* pool) const {
  const Node& node = columns_[i];
  IW_ASSIGN(DataPtr data, ConstantArray(node.type, node.arrow_type, node.constant, rows, pool));
  return arrow::MakeArray(std::move(data));
}

}  // namespace icewright
