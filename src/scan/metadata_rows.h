#pragma once

/// \file scan/metadata_rows.h
/// Files, manifests and partitions as JSON for people.

#include <map>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright::scan_internal {

/// Milliseconds since 1970 as "2024-01-31T10:00:00.123+00:00".
Json TimeJson(TimePoint time);

template <typename T>
Json OptionalJson(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_enum_v<T>) {
    return Raw(*value);
  } else {
    return *value;
  }
}

/// Knows names and types of columns and partition fields. Borrows the metadata. Immutable.
class RowMaker {
 public:
  explicit RowMaker(const TableMetadata& metadata);

  /// Columns of the files tables, in order.
  static const std::vector<std::string>& FileColumns();
  /// One value for each of FileColumns().
  Json FileRow(const DataFile& file) const;

  static const std::vector<std::string>& ManifestColumns();
  Json ManifestRow(const ManifestFile& manifest) const;

  /// {"name": value}, readable.
  Json PartitionJson(SpecId spec_id, const StructValue& partition) const;

 private:
  struct BoundSpec {
    const PartitionSpec* spec;
    const Schema* schema;
    Type partition_type;
  };
  Json BoundsJson(const ColumnBounds& bounds) const;
  Json SummariesJson(const ManifestFile& manifest) const;
  const Field* FindField(FieldId id) const;

  const TableMetadata& metadata_;
  std::map<SpecId, BoundSpec> specs_;
};

}  // namespace icewright::scan_internal
