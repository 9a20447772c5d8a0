#include "catalog/metadata_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"
#include "codec/compression.h"

namespace icewright {
namespace {

constexpr int kReadAttempts = 4;
constexpr Milliseconds kFirstReadWait{100};

void Overlay(Properties& properties, const Properties& catalog_properties,
             std::string_view prefix) {
  for (const auto& [key, value] : catalog_properties) {
    if (key.starts_with(prefix)) properties[key.substr(prefix.size())] = value;
  }
}

// What is removed was chosen by what `base` had. A branch, tag or snapshot that came since may need
// it, and no requirement can name what nobody had seen.
Status CheckRemovalsSawAll(const TableState& base, const TableState& current,
                           std::span<const TableUpdate> updates) {
  const bool removes = std::ranges::any_of(updates, [](const TableUpdate& update) {
    return std::holds_alternative<RemoveSnapshots>(update) ||
           std::holds_alternative<RemovePartitionSpecs>(update) ||
           std::holds_alternative<RemoveSchemas>(update);
  });
  if (!removes || base.metadata == nullptr || base.metadata_location == current.metadata_location) {
    return {};
  }
  for (const auto& [name, ref] : current.metadata->refs) {
    if (base.metadata->refs.contains(name)) continue;
    return Error(Code::kConflict, fmt::format("{} was created concurrently", name));
  }
  const SnapshotIndex seen(*base.metadata);
  for (const Snapshot& snapshot : current.metadata->snapshots) {
    if (seen.Find(snapshot.id) != nullptr) continue;
    return Error(Code::kConflict,
                 fmt::format("snapshot {} was added concurrently", Raw(snapshot.id)));
  }
  return {};
}

}  // namespace

Result<TableState> ReadTableState(RunContext& run, FileIO& io, const Location& metadata_location) {
  Milliseconds wait = kFirstReadWait;
  for (int attempt = 1;; ++attempt) {
    IW_TRY(run.Check());
    Result<Bytes> bytes = ReadFile(io, metadata_location);
    if (!bytes) {
      if (!IsRetryable(bytes.error().code()) || attempt == kReadAttempts) return bytes.error();
      IW_TRY(run.SleepFor(wait));
      wait *= 4;
      continue;
    }
    IW_ASSIGN(TableMetadata metadata, ParseTableMetadata(*bytes, metadata_location.text()));
    return TableState{metadata_location,
                      std::make_shared<const TableMetadata>(std::move(metadata))};
  }
}

Result<bool> WantsGzip(const Properties& properties) {
  const std::string codec = StringProperty(properties, kMetadataCompression, "none");
  const std::string lower = ToLower(codec);
  if (lower == "gzip") return true;
  if (lower == "none" || lower.empty()) return false;
  return Error(Code::kInvalidArgument,
               fmt::format("{} is '{}'; known are none and gzip", kMetadataCompression, codec));
}

Result<Bytes> EncodeMetadata(const TableMetadata& metadata) {
  IW_ASSIGN(const bool gzip, WantsGzip(metadata.properties));
  std::string json = SerializeTableMetadata(metadata);
  if (!gzip) return json;
  return Compress(Compression::kGzip, json);
}

Location MetadataFolderOf(const TableMetadata& metadata) {
  const auto path = metadata.Property(kWriteMetadataPath);
  if (path) return Location(WithoutTrailingSlash(*path));
  return metadata.location.Child("metadata");
}

Location FolderOf(const Location& file) {
  return Location(file.text().substr(0, file.text().rfind('/')));
}

std::string VersionedMetadataName(int version, std::string_view uuid, bool gzip) {
  return fmt::format("{:05}-{}{}.metadata.json", version, uuid, gzip ? ".gz" : "");
}

Result<NextMetadata> PlanCommit(const RunContext& run, const TableState& base,
                                const TableState& current,
                                std::span<const TableRequirement> requirements,
                                std::span<const TableUpdate> updates) {
  if (base.metadata != nullptr && !base.metadata->table_uuid.empty()) {
    IW_TRY(CheckRequirement(current.metadata.get(), AssertTableUuid{base.metadata->table_uuid}));
  }
  for (const TableRequirement& requirement : requirements) {
    IW_TRY(CheckRequirement(current.metadata.get(), requirement));
  }
  IW_TRY(CheckRemovalsSawAll(base, current, updates));
  Result<TableMetadata> applied = Apply(*current.metadata, updates, run.Now());
  if (!applied) {
    // Updates made for another version, e.g. a snapshot whose sequence number is taken by now.
    const bool stale = base.metadata_location != current.metadata_location;
    if (!stale || applied.error().code() != Code::kInvalidArgument) return applied.error();
    return Error(Code::kConflict, "the table has moved on: " + applied.error().message());
  }
  NextMetadata next;
  next.metadata = WithMetadataLog(std::move(*applied), *current.metadata, current.metadata_location,
                                  &next.dropped);
  return next;
}

Result<TableMetadata> PlanCreate(RunContext& run, const CreateTableRequest& request,
                                 Location location, const Properties& catalog_properties) {
  Properties properties;
  Overlay(properties, catalog_properties, "table-default.");
  for (const auto& [key, value] : request.properties) properties[key] = value;
  Overlay(properties, catalog_properties, "table-override.");
  IW_TRY(WantsGzip(properties));
  NewTable table{.location = Location(WithoutTrailingSlash(location.text())),
                 .schema = request.schema,
                 .spec = request.spec,
                 .sort_order = request.sort_order,
                 .properties = std::move(properties)};
  return MakeTableMetadata(table, run.random().NewUuid(), run.Now());
}

void DeleteDropped(RunContext& run, FileIO& io, const NextMetadata& next) {
  if (next.dropped.empty() || !BoolProperty(next.metadata.properties, kDeleteAfterCommit, false)) {
    return;
  }
  for (const DeleteFailure& failure : io.DeleteFiles(next.dropped)) {
    run.log().Warning(fmt::format("old metadata file {} is left behind: {}",
                                  failure.location.text(), failure.error.message()));
  }
}

void DiscardFile(RunContext& run, FileIO& io, const Location& location) {
  if (const Status status = io.Delete(location); !status) {
    run.log().Warning(fmt::format("unused metadata file {} is left behind: {}", location.text(),
                                  status.error().message()));
  }
}

std::string WithoutTrailingSlash(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace icewright
