#pragma once

/// \file testing/table_builder.h
/// Small tables, files and manifests for tests, one line each.
///
///   TableMetadata table = MakeTable({.fields = {{1, "id", TypeId::kLong}}, .partition = {"id"}});
///   DataFile file = MakeDataFile("a.parquet", {.records = 10, .partition = {std::int64_t{7}}});

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

struct TestColumn {
  int id;
  std::string name;
  Type type;
  bool required = false;

  TestColumn(int column_id, std::string column_name, TypeId type_id)
      : TestColumn(column_id, std::move(column_name), Type::Of(type_id)) {}
  TestColumn(int column_id, std::string column_name, Type column_type, bool is_required = false)
      : id(column_id),
        name(std::move(column_name)),
        type(std::move(column_type)),
        required(is_required) {}
};

inline Schema MakeSchema(const std::vector<TestColumn>& columns, int schema_id = 0) {
  std::vector<Field> fields;
  for (const TestColumn& column : columns) {
    fields.push_back({.id = FieldId{column.id},
                      .name = column.name,
                      .required = column.required,
                      .type = column.type});
  }
  return Schema(std::move(fields), SchemaId{schema_id});
}

/// A spec of (source column id, transform) pairs; fields get ids from 1000 + `first_field` on and
/// the names "p0", "p1", ...
inline PartitionSpec MakeSpec(int spec_id, const std::vector<std::pair<int, std::string>>& fields,
                              int first_field = 0) {
  PartitionSpec spec{.id = SpecId{spec_id}, .fields = {}};
  for (const auto& [source, transform] : fields) {
    const int n = first_field + static_cast<int>(spec.fields.size());
    spec.fields.push_back({.source_ids = {FieldId{source}},
                           .field_id = FieldId{1000 + n},
                           .name = "p" + std::to_string(n),
                           .transform = Transform::Parse(transform)});
  }
  return spec;
}

/// A table without snapshots.
inline TableMetadata MakeTable(Schema schema, std::vector<PartitionSpec> specs,
                               int format_version = 2) {
  TableMetadata metadata;
  metadata.format_version = format_version;
  metadata.table_uuid = "00000000-0000-4000-8000-000000000001";
  metadata.location = Location("memory:/t");
  metadata.last_column_id = schema.highest_field_id();
  metadata.current_schema_id = schema.id().value_or(SchemaId{0});
  metadata.schemas = {std::move(schema)};
  metadata.default_spec_id = specs.back().id;
  metadata.partition_specs = std::move(specs);
  metadata.sort_orders = {SortOrder{}};
  if (format_version >= 3) metadata.next_row_id = 0;
  return metadata;
}

struct TestFile {
  std::int64_t records = 1;
  int spec_id = 0;
  StructValue partition = {};
};

inline DataFile MakeDataFile(std::string path, TestFile options = {}) {
  DataFile file;
  file.file_path = Location(std::move(path));
  file.record_count = options.records;
  file.file_size_in_bytes = options.records * 100;
  file.partition = std::move(options.partition);
  file.spec_id = SpecId{options.spec_id};
  return file;
}

inline DataFile MakePositionDeletes(std::string path, TestFile options = {}) {
  DataFile file = MakeDataFile(std::move(path), std::move(options));
  file.content = FileContent::kPositionDeletes;
  return file;
}

inline DataFile MakeEqualityDeletes(std::string path, const std::vector<int>& column_ids,
                                    TestFile options = {}) {
  DataFile file = MakeDataFile(std::move(path), std::move(options));
  file.content = FileContent::kEqualityDeletes;
  for (const int id : column_ids) file.equality_ids.push_back(FieldId{id});
  return file;
}

/// A DV at `offset` of a shared Puffin file, for `data_file`.
inline DataFile MakeDv(std::string path, const DataFile& data_file, std::int64_t offset = 4) {
  DataFile file = MakePositionDeletes(
      std::move(path),
      {.spec_id = static_cast<int>(Raw(data_file.spec_id)), .partition = data_file.partition});
  file.file_format = FileFormat::kPuffin;
  file.referenced_data_file = data_file.file_path;
  file.content_offset = offset;
  file.content_size_in_bytes = 40;
  return file;
}

}  // namespace icewright
