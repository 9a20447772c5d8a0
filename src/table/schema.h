#pragma once

/// \file table/schema.h
/// A table's columns, found by field id and by name.
///
/// Spec: "Schemas and Data Types", "Schema Evolution", "Reserved Field IDs".   Java twin: Schema.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/field.h"
#include "table/type.h"

namespace icewright {

/// Reserved field ids (spec: metadata columns).
inline constexpr FieldId kRowIdField{2147483540};  // _row_id
inline constexpr FieldId kLastUpdatedSequenceNumberField{
    2147483539};                                            // _last_updated_sequence_number
inline constexpr FieldId kFilePathField{2147483646};        // _file
inline constexpr FieldId kRowPositionField{2147483645};     // _pos
inline constexpr FieldId kDeleteFilePathField{2147483546};  // file_path of position deletes
inline constexpr FieldId kDeleteFilePosField{2147483545};   // pos of position deletes

/// Cheap to copy. Immutable.
class Schema {
 public:
  Schema() : Schema({}, {}) {}
  explicit Schema(std::vector<Field> fields, std::optional<SchemaId> id = {},
                  std::vector<FieldId> identifier_field_ids = {}, std::string unknown_fields = {});

  std::optional<SchemaId> id() const;
  const std::vector<Field>& fields() const;
  Type AsStruct() const;
  const std::vector<FieldId>& identifier_field_ids() const;

  /// JSON object of members this build does not know, or empty.
  const std::string& unknown_fields() const;

  /// At any depth; null if there is none.
  const Field* Find(FieldId id) const;

  /// By full dotted name ("a.b", "m.key", "l.element"; short forms of list<struct> too, as Java);
  /// null if there is none. Case-insensitive (ASCII) lookups that match two fields find none.
  const Field* Find(std::string_view name, bool case_sensitive = true) const;

  /// Full dotted name; empty if there is no such field.
  std::string_view NameOf(FieldId id) const;

  /// The top-level column that holds the field (itself, if top-level); null if there is none.
  const Field* TopLevelOf(FieldId id) const;

  int highest_field_id() const;

  /// Equal fields (docs and defaults too) in the same order and equal identifier fields; ids of the
  /// schemas do not count.
  bool SameAs(const Schema& other) const;

  static Result<Schema> FromJson(const Json& json);
  Json ToJson() const;

 private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

/// Type <-> JSON, also for Parquet's `iceberg.schema` and the struct of partition types.
Result<Type> TypeFromJson(const Json& json);
Json ToJson(const Type& type);

}  // namespace icewright
