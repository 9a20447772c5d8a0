#pragma once

/// \file table/field.h
/// One column of a struct, or the element of a list, or the key or value of a map.

#include <optional>
#include <string>

#include "base/ids.h"
#include "table/type.h"
#include "table/value.h"

namespace icewright {

struct Field {
  FieldId id{};
  std::string name;  ///< "element", "key" and "value" in lists and maps.
  bool required = false;
  Type type;
  std::optional<std::string> doc = {};

  /// v3: what rows written before the field existed have. Primitive types only; unset: null.
  std::optional<Literal> initial_default = {};

  /// v3: what a writer fills in that does not know the field.
  std::optional<Literal> write_default = {};

  /// JSON object of members this build does not know (and defaults of nested types), or empty.
  std::string unknown_fields = {};
};

}  // namespace icewright
