#pragma once

/// \file table/name_mapping.h
/// Field ids for files that have none, by column name.
///
/// Spec: "Column Projection", "Appendix: name mapping".   Java twin: NameMapping.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace icewright {

/// Immutable tree; names of one level are unique.
struct MappedField {
  std::optional<FieldId> id;
  std::vector<std::string> names;
  std::vector<MappedField> fields;
};

struct NameMapping {
  std::vector<MappedField> fields;

  /// Child of `level` with this name (lists: "element", maps: "key", "value"); null if unmapped.
  static const MappedField* Find(const std::vector<MappedField>& level, std::string_view name);

  /// Value of `schema.name-mapping.default`. Errors: kCorrupt.
  static Result<NameMapping> Parse(std::string_view json);
};

}  // namespace icewright
