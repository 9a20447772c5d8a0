#include "manifest/manifest_writer.h"

#include <fmt/format.h>

#include "codec/json.h"
#include "manifest/avro_file.h"
#include "manifest/entry_check.h"
#include "manifest/manifest_statistics.h"
#include "manifest/record_writer.h"

namespace icewright {

namespace {

std::map<std::string, std::string> HeaderOf(const Schema& schema, const PartitionSpec& spec,
                                            const ManifestWriteOptions& options) {
  std::map<std::string, std::string> header = {
      {"schema", DumpJson(schema.ToJson())},
      {"schema-id", std::to_string(Raw(schema.id().value_or(SchemaId{0})))},
      {"partition-spec", DumpJson(spec.FieldsToJson())},
      {"partition-spec-id", std::to_string(Raw(spec.id))},
      {"format-version", std::to_string(options.format_version)},
  };
  if (options.format_version >= 2) {
    header["content"] = options.content == ManifestContent::kData ? "data" : "deletes";
  }
  return header;
}

}  // namespace

struct ManifestWriter::Rep {
  Rep(Location path, SpecId spec, Type type, ManifestWriteOptions write_options,
      manifest_internal::AvroFileWriter writer)
      : location(std::move(path)),
        spec_id(spec),
        partition_type(std::move(type)),
        options(std::move(write_options)),
        file(std::move(writer)),
        statistics(partition_type) {}

  Status Write(const ManifestEntry& entry);
  Status CheckFile(const DataFile& data_file) const;

  Location location;
  SpecId spec_id;
  Type partition_type;
  ManifestWriteOptions options;
  manifest_internal::AvroFileWriter file;
  manifest_internal::ManifestStatistics statistics;
  ManifestEntry entry;  // reused
  std::int64_t entries = 0;
};

Status ManifestWriter::Rep::CheckFile(const DataFile& data_file) const {
  return manifest_internal::CheckEntryFile(data_file, options.format_version, options.content,
                                           spec_id, partition_type)
      .Within("manifest " + location.text());
}

Status ManifestWriter::Rep::Write(const ManifestEntry& line) {
  avro::Encoder out = file.container().encoder();
  manifest_internal::WriteEntry(out, options.format_version, partition_type, line, line.status);
  IW_TRY(file.container().EndRecord().Within("write manifest " + location.text()));
  statistics.Add(line);
  ++entries;
  return {};
}

ManifestWriter::ManifestWriter(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
ManifestWriter::ManifestWriter(ManifestWriter&&) noexcept = default;
ManifestWriter& ManifestWriter::operator=(ManifestWriter&&) noexcept = default;
ManifestWriter::~ManifestWriter() = default;

Result<ManifestWriter> ManifestWriter::Create(RunContext& run, FileIO& io, const Location& location,
                                              const Schema& schema, const PartitionSpec& spec,
                                              ManifestWriteOptions options) {
  IW_TRY(manifest_internal::CheckManifestKind(options.format_version, options.content));
  Type type = spec.PartitionType(schema);
  const Json avro = manifest_internal::ManifestAvroSchema(options.format_version, type);
  IW_ASSIGN(auto file, manifest_internal::AvroFileWriter::Create(run, io, location, DumpJson(avro),
                                                                 HeaderOf(schema, spec, options),
                                                                 options.compression_codec));
  return ManifestWriter(std::make_unique<Rep>(location, spec.id, std::move(type),
                                              std::move(options), std::move(file)));
}

Status ManifestWriter::AddAdded(const DataFile& file,
                                std::optional<SequenceNumber> data_sequence_number) {
  IW_TRY(rep_->CheckFile(file));
  ManifestEntry& entry = rep_->entry;
  entry.status = EntryStatus::kAdded;
  entry.snapshot_id = rep_->options.snapshot_id;
  entry.sequence_number = data_sequence_number;
  entry.file_sequence_number.reset();
  entry.file = file;
  entry.file.first_row_id.reset();  // a value from another branch would claim its rows
  return rep_->Write(entry);
}

Status ManifestWriter::AddExisting(const ManifestEntry& entry) {
  IW_TRY(rep_->CheckFile(entry.file));
  IW_TRY(manifest_internal::CheckExisting(entry));
  ManifestEntry copy = entry;
  copy.status = EntryStatus::kExisting;
  return rep_->Write(copy);
}

Status ManifestWriter::AddDeleted(const ManifestEntry& entry) {
  IW_TRY(rep_->CheckFile(entry.file));
  if (!entry.sequence_number) {
    return Error(Code::kInvalidArgument,
                 "deleted entry without sequence number: " + entry.file.file_path.text());
  }
  ManifestEntry copy = entry;
  copy.status = EntryStatus::kDeleted;
  copy.snapshot_id = rep_->options.snapshot_id;
  return rep_->Write(copy);
}

Status ManifestWriter::AppendBlock(const EntryBlock& block) {
  const std::string step = "write manifest " + rep_->location.text();
  IW_TRY(rep_->file.container()
             .AppendRaw({.count = block.count, .compressed = block.compressed})
             .Within(step));
  for (const ExistingFiles& files : block.files) rep_->statistics.AddExisting(files);
  rep_->entries += block.count;
  return {};
}

std::int64_t ManifestWriter::entries() const { return rep_->entries; }
std::int64_t ManifestWriter::estimated_bytes() const {
  return rep_->file.container().estimated_bytes();
}

Result<ManifestFile> ManifestWriter::Close() {
  ManifestFile manifest;
  manifest.manifest_path = rep_->location;
  auto length = rep_->file.Close();
  if (!length) return length.error().Within("write manifest " + rep_->location.text());
  manifest.manifest_length = *length;
  manifest.partition_spec_id = rep_->spec_id;
  manifest.content = rep_->options.content;
  manifest.added_snapshot_id = rep_->options.snapshot_id;
  manifest.sequence_number_pending = true;
  rep_->statistics.Describe(manifest);
  return manifest;
}

}  // namespace icewright
