#pragma once

/// \file table/partition_spec.h
/// How rows map to partitions, and how partitions map to folder names.
///
/// Spec: "Partitioning".   Java twin: PartitionSpec.

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/schema.h"
#include "table/transform.h"

namespace icewright {

struct PartitionField {
  /// One source for all transforms of this build; more only with an unknown transform.
  std::vector<FieldId> source_ids;
  FieldId field_id{};
  std::string name;
  Transform transform;

  FieldId source_id() const { return source_ids.front(); }
  friend bool operator==(const PartitionField&, const PartitionField&) = default;
};

struct PartitionSpec {
  SpecId id{0};
  std::vector<PartitionField> fields;

  /// True without a field that partitions (no fields, or only void ones).
  bool is_unpartitioned() const;

  /// The struct of partition values: one optional field per partition field. A source column that
  /// is no longer in the schema gives unknown type for identity and truncate.
  Type PartitionType(const Schema& schema) const;

  /// "a=1/b_bucket=3", names and values form-encoded as Java does; "" if unpartitioned. Java shows
  /// null as "null".
  std::string PathOf(const Schema& schema, const StructValue& partition) const;

  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;

  static Result<PartitionSpec> FromJson(const Json& json);
  Json ToJson() const;
  /// The fields array alone, as in manifests.
  static Result<std::vector<PartitionField>> FieldsFromJson(const Json& json);
  Json FieldsToJson() const;
};

}  // namespace icewright
