#include "table/structure_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace icewright {
namespace {

int MinFormatVersion(TypeId id) {
  switch (id) {
    case TypeId::kUnknown:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
    case TypeId::kGeometry:
    case TypeId::kGeography:
    case TypeId::kVariant:
      return 3;
    default:
      return 1;
  }
}

Status CheckFields(const Schema& schema, const std::vector<Field>& fields, int format_version) {
  for (const Field& field : fields) {
    const int needed = field.initial_default ? 3 : MinFormatVersion(field.type.id());
    if (needed > format_version) {
      return Error(Code::kInvalidArgument,
                   fmt::format("column {}: {} needs format version {}, the table has {}",
                               schema.NameOf(field.id),
                               field.initial_default ? "an initial default" : field.type.ToString(),
                               needed, format_version));
    }
    IW_TRY(CheckFields(schema, field.type.fields(), format_version));
  }
  return {};
}

Status CheckIdentifier(const Schema& schema, FieldId id) {
  const Field* field = schema.Find(id);
  if (field == nullptr) {
    return Error(Code::kInvalidArgument,
                 fmt::format("identifier field {}: no such column", Raw(id)));
  }
  std::string_view what;
  if (!field->type.is_primitive()) what = "it is no primitive";
  if (!field->required) what = "it is optional";
  if (field->type.id() == TypeId::kFloat || field->type.id() == TypeId::kDouble) {
    what = "it is a floating-point number";
  }
  if (what.empty()) return {};
  return Error(Code::kInvalidArgument,
               fmt::format("column {} cannot be an identifier field: {}", schema.NameOf(id), what));
}

bool IsUnchecked(const Transform& transform) {
  return transform.kind() == Transform::Kind::kVoid ||
         transform.kind() == Transform::Kind::kUnknown;
}

/// The source column of a transform that can take it.
Status CheckSource(const Schema& schema, FieldId source_id, const Transform& transform,
                   const std::string& user) {
  const Field* source = schema.Find(source_id);
  if (source == nullptr) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: there is no source column {}", user, Raw(source_id)));
  }
  if (!source->type.is_primitive() || !transform.CanTransform(source->type)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: {} cannot take column {} of type {}", user, transform.text(),
                             schema.NameOf(source_id), source->type.ToString()));
  }
  return {};
}

}  // namespace

Status CheckSchema(const Schema& schema, int format_version) {
  IW_TRY(CheckFields(schema, schema.fields(), format_version));
  for (const FieldId id : schema.identifier_field_ids()) IW_TRY(CheckIdentifier(schema, id));
  return {};
}

Status CheckSpec(const PartitionSpec& spec, const Schema& schema) {
  std::set<std::string_view> names;
  for (const PartitionField& field : spec.fields) {
    const std::string user = fmt::format("partition field {}", field.name);
    if (field.name.empty()) {
      return Error(Code::kInvalidArgument, "a partition field has no name");
    }
    if (!names.insert(field.name).second) {
      return Error(Code::kInvalidArgument, user + ": the name is used twice");
    }
    if (IsUnchecked(field.transform)) continue;
    IW_TRY(CheckSource(schema, field.source_id(), field.transform, user));
    const Field* same_name = schema.Find(field.name);
    const bool is_its_source = same_name != nullptr && same_name->id == field.source_id() &&
                               field.transform.kind() == Transform::Kind::kIdentity;
    if (same_name != nullptr && !is_its_source) {
      return Error(Code::kInvalidArgument, user + ": a column has this name");
    }
  }
  return {};
}

Status CheckSortOrder(const SortOrder& order, const Schema& schema) {
  for (const SortField& field : order.fields) {
    if (IsUnchecked(field.transform)) continue;
    IW_TRY(CheckSource(schema, field.source_id(), field.transform,
                       fmt::format("sort order {}", Raw(order.id))));
  }
  return {};
}

}  // namespace icewright
