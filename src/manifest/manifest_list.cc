#include <fmt/format.h>

#include "codec/json.h"
#include "manifest/avro_file.h"
#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_statistics.h"
#include "manifest/record_reader.h"
#include "manifest/record_writer.h"

namespace icewright {

using manifest_internal::DescribeManifest;
using manifest_internal::In;
using manifest_internal::Input;
using manifest_internal::RecordReader;

namespace {

bool HasCounts(const ManifestFile& manifest) {
  return manifest.added_files_count && manifest.existing_files_count &&
         manifest.deleted_files_count && manifest.added_rows_count &&
         manifest.existing_rows_count && manifest.deleted_rows_count;
}

Status CheckListed(const ManifestFile& manifest) {
  const auto negative = [](const auto& count) { return count.value_or(0) < 0; };
  if (manifest.manifest_path.empty() || manifest.manifest_length < 0 ||
      negative(manifest.added_files_count) || negative(manifest.existing_files_count) ||
      negative(manifest.deleted_files_count) || negative(manifest.added_rows_count) ||
      negative(manifest.existing_rows_count) || negative(manifest.deleted_rows_count)) {
    return Error(Code::kCorrupt,
                 fmt::format("impossible entry for manifest '{}'", manifest.manifest_path.text()));
  }
  return {};
}

Result<std::vector<ManifestFile>> ReadList(RunContext& run, FileIO& io, const Location& location) {
  IW_TRY(run.Check());
  IW_ASSIGN(auto container, manifest_internal::OpenAvro(io, location));
  manifest_internal::RecordCursor cursor(std::move(container));
  IW_ASSIGN(const auto reader,
            RecordReader<ManifestFile>::Compile(*cursor.container().schema(),
                                                manifest_internal::kListColumns, {}));
  std::vector<ManifestFile> manifests;
  ManifestFile manifest;
  for (;;) {
    IW_ASSIGN(const bool more, cursor.Next([&](Input& in) { reader.Read(in, manifest); }));
    if (!more) return manifests;
    IW_TRY(CheckListed(manifest));
    manifests.push_back(std::move(manifest));
  }
}

/// v1 snapshots may name their manifests one by one; what a list would say is in the files.
Result<std::vector<ManifestFile>> DescribeAll(RunContext& run, FileIO& io,
                                              const TableMetadata& metadata,
                                              const Snapshot& snapshot) {
  std::vector<ManifestFile> manifests;
  for (const Location& location : snapshot.v1_manifests) {
    ManifestFile manifest;
    manifest.manifest_path = location;
    manifest.added_snapshot_id = snapshot.id;
    IW_ASSIGN(manifest, DescribeManifest(run, io, metadata, std::move(manifest)));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

std::map<std::string, std::string> HeaderOf(const ManifestListHeader& header) {
  std::map<std::string, std::string> out = {
      {"snapshot-id", ToString(header.snapshot_id)},
      {"parent-snapshot-id",
       header.parent_snapshot_id ? ToString(*header.parent_snapshot_id) : "null"},
      {"format-version", std::to_string(header.format_version)},
  };
  if (header.format_version >= 2) out["sequence-number"] = ToString(header.sequence_number);
  if (header.format_version >= 3) out["first-row-id"] = std::to_string(*header.first_row_id);
  return out;
}

/// Fills in what only the commit knows, in the order of the list.
Result<std::optional<std::int64_t>> ResolvePending(const ManifestListHeader& header,
                                                   std::vector<ManifestFile>& manifests) {
  std::optional<std::int64_t> next_row_id;
  if (header.format_version >= 3) next_row_id = header.first_row_id;
  for (ManifestFile& manifest : manifests) {
    if (manifest.sequence_number_pending) manifest.sequence_number = header.sequence_number;
    if (manifest.min_sequence_number_pending) manifest.min_sequence_number = header.sequence_number;
    manifest.sequence_number_pending = manifest.min_sequence_number_pending = false;
    if (manifest.content == ManifestContent::kDeletes) manifest.first_row_id.reset();
    if (!next_row_id || manifest.content == ManifestContent::kDeletes || manifest.first_row_id) {
      continue;
    }
    manifest.first_row_id = next_row_id;
    if (__builtin_add_overflow(*next_row_id, *manifest.added_rows_count, &*next_row_id) ||
        __builtin_add_overflow(*next_row_id, *manifest.existing_rows_count, &*next_row_id)) {
      return Error(Code::kUnsupported, "the table has no row ids left");
    }
  }
  return next_row_id;
}

Status WriteRecords(avro::ContainerWriter& container, int version,
                    const std::vector<ManifestFile>& manifests) {
  for (const ManifestFile& manifest : manifests) {
    avro::Encoder out = container.encoder();
    for (const auto& column : manifest_internal::kListColumns) {
      const In in = column.InVersion(version);
      if (in == In::kNo) continue;
      std::visit(
          [&]<typename T>(T ManifestFile::*member) {
            const T& value = manifest.*member;
            if constexpr (std::is_same_v<T, std::optional<std::vector<PartitionFieldSummary>>>) {
              // An empty list is not null: it says that the spec has no fields.
              out.WriteLong(value ? 1 : 0);
              if (value) manifest_internal::WriteValue(out, *value);
            } else {
              manifest_internal::WriteColumn(out, in, value);
            }
          },
          column.member);
    }
    IW_TRY(container.EndRecord());
  }
  return {};
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifests(RunContext& run, FileIO& io,
                                                const TableMetadata& metadata,
                                                const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) return DescribeAll(run, io, metadata, snapshot);
  if (snapshot.key_id) {
    return Error(Code::kUnsupported,
                 "manifest list " + snapshot.manifest_list.text() + " is encrypted");
  }
  return ReadList(run, io, snapshot.manifest_list)
      .Within("manifest list " + snapshot.manifest_list.text());
}

Result<WrittenManifestList> WriteManifestList(RunContext& run, FileIO& io, const Location& location,
                                              const ManifestListHeader& header,
                                              std::vector<ManifestFile> manifests) {
  const int version = header.format_version;
  if (version < 1 || version > kMaxFormatVersion) {
    return Error(Code::kUnsupported, fmt::format("write a manifest list of version {}", version));
  }
  if (version >= 3 && !header.first_row_id) {
    return Error(Code::kInvalidArgument, "a version 3 manifest list needs a first row id");
  }
  for (ManifestFile& manifest : manifests) {
    // Lists of version 1 may leave out counts that later versions require.
    if (version == 1 || HasCounts(manifest)) continue;
    const SequenceNumber min = manifest.min_sequence_number;
    IW_ASSIGN(manifest, DescribeManifest(run, io, TableMetadata(), manifest));
    manifest.min_sequence_number = min;
  }
  IW_ASSIGN(const auto next_row_id, ResolvePending(header, manifests));
  const std::string step = "write manifest list " + location.text();
  const std::string schema = DumpJson(manifest_internal::ManifestListAvroSchema(version));
  IW_ASSIGN(auto file, manifest_internal::AvroFileWriter::Create(
                           run, io, location, schema, HeaderOf(header), header.compression_codec)
                           .Within(step));
  IW_TRY(WriteRecords(file.container(), version, manifests).Within(step));
  IW_TRY(file.Close().Within(step));
  return WrittenManifestList{.manifests = std::move(manifests), .next_row_id = next_row_id};
}

}  // namespace icewright
