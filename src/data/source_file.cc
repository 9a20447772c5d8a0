#include "data/source_file.h"

#include <arrow/memory_pool.h>
#include <arrow/type.h>

#include <algorithm>

namespace icewright {
namespace {

bool HasIds(const std::vector<SourceField>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const SourceField& field) {
    return field.id.has_value() || HasIds(field.children);
  });
}

std::string MappedName(const SourceField& parent, std::size_t child) {
  switch (parent.type->id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return "element";
    case arrow::Type::MAP:
      return child == 0 ? "key" : "value";
    default:
      return parent.children[child].name;
  }
}

void MapChildren(SourceField& parent, const std::vector<MappedField>& level);

void MapField(SourceField& field, const MappedField* mapped) {
  if (mapped == nullptr) return;
  field.id = mapped->id;
  MapChildren(field, mapped->fields);
}

void MapChildren(SourceField& parent, const std::vector<MappedField>& level) {
  for (std::size_t i = 0; i < parent.children.size(); ++i) {
    MapField(parent.children[i], NameMapping::Find(level, MappedName(parent, i)));
  }
}

std::vector<MappedField> MappingOf(const std::vector<Field>& fields) {
  std::vector<MappedField> out;
  for (const Field& field : fields) {
    out.push_back({field.id, {field.name}, MappingOf(field.type.fields())});
  }
  return out;
}

Result<std::unique_ptr<SourceFile>> OpenByFormat(FileIO& io, const DataFile& file,
                                                 std::optional<std::int64_t> size,
                                                 const SourceOptions& options,
                                                 std::shared_ptr<arrow::MemoryPool> pool) {
  IW_ASSIGN(std::unique_ptr<InputFile> input, io.Open(file.file_path, size));
  switch (file.file_format) {
    case FileFormat::kParquet: {
      IW_ASSIGN(const std::int64_t actual, input->Size());
      return OpenParquetSource(std::move(input), actual, options, std::move(pool));
    }
    case FileFormat::kAvro:
      return OpenAvroSource(std::move(input), options, std::move(pool));
    case FileFormat::kOrc:
      return OpenOrcSource(std::move(input), options, std::move(pool));
    case FileFormat::kPuffin:
      break;
  }
  return Error(Code::kUnsupported, "Puffin files hold no rows");
}

}  // namespace

Status AssignFieldIds(std::vector<SourceField>& fields, FileFormat format,
                      const std::optional<NameMapping>& mapping, const Schema& schema) {
  if (HasIds(fields)) return {};
  if (!mapping && format == FileFormat::kParquet) {
    int ordinal = 1;
    for (SourceField& field : fields) field.id = FieldId{ordinal++};
    return {};
  }
  const NameMapping names = mapping ? *mapping : NameMapping{MappingOf(schema.fields())};
  for (SourceField& field : fields) MapField(field, NameMapping::Find(names.fields, field.name));
  if (!fields.empty() && !HasIds(fields)) {
    return Error(Code::kUnsupported,
                 "the file has no field ids, and no column of it is in the table's name mapping "
                 "(first column: '" +
                     fields.front().name + "')");
  }
  return {};
}

void SelectAll(SourceField& field) {
  field.selected = true;
  for (SourceField& child : field.children) SelectAll(child);
}

Result<std::unique_ptr<SourceFile>> OpenSource(RunContext& run, FileIO& io, const DataFile& file,
                                               const SourceOptions& options,
                                               std::shared_ptr<arrow::MemoryPool> pool) {
  const std::string step = "read " + file.file_path.text();
  if (file.key_metadata) {
    return Error(Code::kUnsupported, "the file is encrypted").Within(step);
  }
  IW_TRY(run.Check());
  const std::optional<std::int64_t> size =
      file.file_size_in_bytes > 0 ? std::optional(file.file_size_in_bytes) : std::nullopt;
  auto opened = OpenByFormat(io, file, size, options, pool);
  if (!opened && opened.error().code() == Code::kCorrupt && size) {
    // Foreign writers get sizes wrong, and Parquet and ORC start at the end: ask the store.
    opened = OpenByFormat(io, file, std::nullopt, options, std::move(pool));
  }
  return std::move(opened).Within(step);
}

}  // namespace icewright
