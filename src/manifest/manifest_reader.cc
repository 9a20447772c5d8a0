#include "manifest/manifest_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/json.h"
#include "manifest/avro_file.h"
#include "manifest/partition_codec.h"
#include "manifest/record_reader.h"

namespace icewright {

using manifest_internal::Input;
using manifest_internal::RecordReader;
using manifest_internal::ValueReader;

namespace {

std::string Step(const Location& manifest) { return "manifest " + manifest.text(); }

/// The spec that the manifest's own header describes, and the struct of its partitions.
Result<std::pair<PartitionSpec, Type>> SpecFromHeader(const avro::ContainerReader& container,
                                                      SpecId id) {
  const auto& header = container.metadata();
  const auto spec_json = header.find("partition-spec");
  const auto schema_json = header.find("schema");
  if (spec_json == header.end() || schema_json == header.end()) {
    return Error(Code::kCorrupt,
                 fmt::format("spec {} is neither in the table nor in the header", Raw(id)));
  }
  IW_ASSIGN(const Json fields, ParseJson(spec_json->second));
  IW_ASSIGN(const Json schema_object, ParseJson(schema_json->second));
  PartitionSpec spec{.id = id, .fields = {}};
  IW_ASSIGN(spec.fields, PartitionSpec::FieldsFromJson(fields));
  IW_ASSIGN(const Schema schema, Schema::FromJson(schema_object));
  return std::pair(spec, spec.PartitionType(schema));
}

bool IsDroppedColumn(const avro::RecordField& field) {
  return std::ranges::any_of(manifest_internal::kDroppedDataFileColumns, [&](const auto& dropped) {
    return field.field_id ? *field.field_id == dropped.first : field.name == dropped.second;
  });
}

const avro::RecordField* FindField(const avro::Schema& record, int id, std::string_view name) {
  const auto it = std::ranges::find_if(record.fields, [&](const avro::RecordField& field) {
    return field.field_id ? *field.field_id == id : field.name == name;
  });
  return it == record.fields.end() ? nullptr : &*it;
}

}  // namespace

struct ManifestReader::Rep {
  Rep(ManifestFile file, ManifestReadOptions read_options, avro::ContainerReader container)
      : manifest(std::move(file)), options(read_options), cursor(std::move(container)) {}

  Status ReadHeader(const TableMetadata& metadata);
  Status Compile();
  Result<bool> Next(ManifestEntry& entry);
  Status Inherit(ManifestEntry& entry);
  Status AssignRowId(ManifestEntry& entry);

  ManifestFile manifest;
  ManifestReadOptions options;
  manifest_internal::RecordCursor cursor;
  PartitionSpec spec;
  Type partition_type = Type::Struct({});
  ManifestContent content = ManifestContent::kData;
  int format_version = 1;
  bool has_unknown_fields = false;
  RecordReader<ManifestEntry> entry_reader;
  std::optional<std::int64_t> next_row_id;
};

Status ManifestReader::Rep::ReadHeader(const TableMetadata& metadata) {
  const avro::ContainerReader& container = cursor.container();
  IW_ASSIGN(const auto version, manifest_internal::HeaderNumber(container, "format-version"));
  if (version.value_or(1) < 1 || version.value_or(1) > kMaxFormatVersion) {
    return Error(Code::kUnsupported, fmt::format("format version {}", *version));
  }
  format_version = static_cast<int>(version.value_or(1));
  IW_ASSIGN(const auto id, manifest_internal::HeaderNumber(container, "partition-spec-id"));
  const auto spec_id = id ? static_cast<SpecId>(*id) : manifest.partition_spec_id;
  content = manifest.content;
  if (const auto it = container.metadata().find("content"); it != container.metadata().end()) {
    if (it->second != "data" && it->second != "deletes") {
      return Error(Code::kCorrupt, fmt::format("content '{}'", it->second));
    }
    content = it->second == "data" ? ManifestContent::kData : ManifestContent::kDeletes;
  }
  if (const PartitionSpec* known = metadata.FindSpec(spec_id)) {
    spec = *known;
    partition_type = spec.PartitionType(PartitionSchemaOf(metadata, spec));
    return {};
  }
  IW_ASSIGN(std::tie(spec, partition_type), SpecFromHeader(container, spec_id));
  return {};
}

Status ManifestReader::Rep::Compile() {
  const avro::Schema& schema = *cursor.container().schema();
  if (schema.kind != avro::Kind::kRecord) {
    return Error(Code::kCorrupt, "the Avro schema is not a record");
  }
  const avro::RecordField* file = FindField(schema, 2, "data_file");
  if (file == nullptr || file->schema->kind != avro::Kind::kRecord) {
    return Error(Code::kCorrupt, "there is no data_file record");
  }
  ValueReader<StructValue> read_partition;
  if (const auto* partition = FindField(*file->schema, 102, "partition")) {
    IW_ASSIGN(read_partition,
              manifest_internal::CompilePartitionReader(*partition->schema, spec, partition_type));
  }
  manifest_internal::RecordOptions record_options{.metrics = options.metrics};
  record_options.context.partition = &read_partition;
  IW_ASSIGN(auto file_reader,
            RecordReader<DataFile>::Compile(*file->schema, manifest_internal::kDataFileColumns,
                                            record_options));
  has_unknown_fields =
      !std::ranges::all_of(file_reader.unknown_fields(),
                           [](const avro::RecordField* field) { return IsDroppedColumn(*field); });
  ValueReader<DataFile> read_file = [file_reader = std::move(file_reader)](
                                        Input& in, DataFile& out) { file_reader.Read(in, out); };
  record_options.context.file = &read_file;
  IW_ASSIGN(entry_reader, RecordReader<ManifestEntry>::Compile(
                              schema, manifest_internal::kEntryColumns, record_options));
  if (!entry_reader.unknown_fields().empty()) has_unknown_fields = true;
  return {};
}

Status ManifestReader::Rep::Inherit(ManifestEntry& entry) {
  DataFile& file = entry.file;
  const bool is_data = file.content == FileContent::kData;
  if (is_data != (content == ManifestContent::kData)) {
    return Error(Code::kCorrupt,
                 fmt::format("{} is a {} file among {}", file.file_path.text(),
                             is_data ? "data" : "delete", is_data ? "deletes" : "data files"));
  }
  if (file.record_count < 0 || file.file_size_in_bytes < 0) {
    return Error(Code::kCorrupt, "a negative count for " + file.file_path.text());
  }
  file.spec_id = spec.id;
  if (!entry.snapshot_id) entry.snapshot_id = manifest.added_snapshot_id;
  if (format_version == 1) {
    // v1 files have no room for numbers; also while the commit that writes them is being built.
    if (!entry.sequence_number) entry.sequence_number = kInitialSequenceNumber;
    if (!entry.file_sequence_number) entry.file_sequence_number = kInitialSequenceNumber;
  }
  const bool inherits =
      entry.status == EntryStatus::kAdded ||
      (manifest.sequence_number == kInitialSequenceNumber && !manifest.sequence_number_pending);
  // While a commit is being built its number is not known: such entries stay without one.
  if (inherits && !manifest.sequence_number_pending) {
    if (!entry.sequence_number) entry.sequence_number = manifest.sequence_number;
    if (!entry.file_sequence_number) entry.file_sequence_number = manifest.sequence_number;
  }
  if (!entry.sequence_number && entry.status == EntryStatus::kExisting) {
    // Guessing a number would apply wrong deletes.
    return Error(Code::kCorrupt, "no sequence number for existing file " + file.file_path.text());
  }
  return AssignRowId(entry);
}

Status ManifestReader::Rep::AssignRowId(ManifestEntry& entry) {
  DataFile& file = entry.file;
  if (content == ManifestContent::kDeletes) return {};
  if (!next_row_id) {
    // Committed without an id: no row has one, whatever the entries say.
    if (!manifest.sequence_number_pending) file.first_row_id.reset();
    return {};
  }
  if (!entry.is_live() || file.first_row_id) return {};
  file.first_row_id = next_row_id;
  if (__builtin_add_overflow(*next_row_id, file.record_count, &*next_row_id)) {
    return Error(Code::kCorrupt, "row ids overflow at " + file.file_path.text());
  }
  return {};
}

Result<bool> ManifestReader::Rep::Next(ManifestEntry& entry) {
  for (;;) {
    IW_ASSIGN(const bool more, cursor.Next([&](Input& in) { entry_reader.Read(in, entry); }));
    if (!more) return false;
    IW_TRY(Inherit(entry));
    if (entry.is_live() || !options.live_only) return true;
  }
}

ManifestReader::ManifestReader(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
ManifestReader::ManifestReader(ManifestReader&&) noexcept = default;
ManifestReader& ManifestReader::operator=(ManifestReader&&) noexcept = default;
ManifestReader::~ManifestReader() = default;

Result<ManifestReader> ManifestReader::Open(FileIO& io, const TableMetadata& metadata,
                                            const ManifestFile& manifest,
                                            ManifestReadOptions options) {
  const Location& path = manifest.manifest_path;
  if (manifest.key_metadata) {
    return Error(Code::kUnsupported, Step(path) + " is encrypted");
  }
  IW_ASSIGN(
      auto container,
      manifest_internal::OpenAvro(io, path, manifest.manifest_length).Within("read manifest"));
  auto rep = std::make_unique<Rep>(manifest, options, std::move(container));
  IW_TRY(rep->ReadHeader(metadata).Within(Step(path)));
  IW_TRY(rep->Compile().Within(Step(path)));
  rep->next_row_id = manifest.first_row_id;
  return ManifestReader(std::move(rep));
}

Result<bool> ManifestReader::Next(ManifestEntry& entry) {
  auto more = rep_->Next(entry);
  if (!more) return more.error().Within(Step(rep_->manifest.manifest_path));
  return more;
}

bool ManifestReader::has_unknown_fields() const { return rep_->has_unknown_fields; }
SpecId ManifestReader::spec_id() const { return rep_->spec.id; }
ManifestContent ManifestReader::content() const { return rep_->content; }
int ManifestReader::format_version() const { return rep_->format_version; }
const Type& ManifestReader::partition_type() const { return rep_->partition_type; }

Result<std::vector<ManifestEntry>> ReadManifest(RunContext& run, FileIO& io,
                                                const TableMetadata& metadata,
                                                const ManifestFile& manifest,
                                                ManifestReadOptions options) {
  IW_TRY(run.Check());
  IW_ASSIGN(auto reader, ManifestReader::Open(io, metadata, manifest, options));
  std::vector<ManifestEntry> entries;
  for (;;) {
    ManifestEntry entry;
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) return entries;
    entries.push_back(std::move(entry));
  }
}

}  // namespace icewright
