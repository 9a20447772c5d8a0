#include "maintain/staged_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "manifest/manifest_file.h"
#include "manifest/manifest_reader.h"

namespace icewright {
namespace {

Error Refused(const Snapshot& snapshot, std::string what) {
  return Error(Code::kUnsupported,
               fmt::format("staging snapshot {} {}", Raw(snapshot.id), std::move(what)));
}

Status Sort(ManifestEntry&& entry, const Snapshot& snapshot, StagedChanges& changes) {
  DataFile& file = entry.file;
  const bool is_data = file.content == FileContent::kData;
  if (entry.status == EntryStatus::kDeleted) {
    if (!is_data) return {};  // a vector that a newer one replaces, which is here, too
    return Refused(snapshot, fmt::format("removes data file {}: compact the target branch, not the "
                                         "staging branch",
                                         file.file_path.text()));
  }
  if (entry.status != EntryStatus::kAdded) return {};
  if (is_data) {
    changes.data_files.push_back(std::move(file));
  } else if (file.content == FileContent::kEqualityDeletes) {
    changes.equality_deletes.push_back(std::move(file));
  } else if (file.is_deletion_vector()) {
    changes.vectors.push_back(std::move(file));
  } else {
    return Refused(snapshot, fmt::format("adds the position delete file {}: only deletion vectors "
                                         "can be promoted",
                                         file.file_path.text()));
  }
  return {};
}

std::string NamesOf(const Schema& schema, const std::vector<FieldId>& ids) {
  std::string names;
  for (const FieldId id : ids) {
    const std::string_view name = schema.NameOf(id);
    names += (names.empty() ? "" : ",") +
             (name.empty() ? fmt::format("field {}", Raw(id)) : std::string(name));
  }
  return names;
}

}  // namespace

Status CheckEqualityDelete(const TableMetadata& metadata, const DataFile& file,
                           const std::vector<FieldId>& key) {
  std::vector<FieldId> ids = file.equality_ids;
  std::ranges::sort(ids);
  if (ids != key) {
    return Error(Code::kUnsupported,
                 fmt::format("equality delete {} has the columns {}, but equality-field-columns "
                             "is {}",
                             file.file_path.text(), NamesOf(metadata.schema(), ids),
                             NamesOf(metadata.schema(), key)));
  }
  const PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  if (spec == nullptr) {
    return Error(Code::kCorrupt, fmt::format("equality delete {} has the unknown partition spec {}",
                                             file.file_path.text(), Raw(file.spec_id)));
  }
  for (const PartitionField& field : spec->fields) {
    if (field.transform.kind() == Transform::Kind::kVoid) continue;
    for (const FieldId source : field.source_ids) {
      if (std::ranges::binary_search(key, source)) continue;
      return Error(Code::kUnsupported,
                   fmt::format("equality delete {} is partitioned by '{}', which is not among "
                               "equality-field-columns",
                               file.file_path.text(), NamesOf(metadata.schema(), {source})));
    }
  }
  return {};
}

Result<StagedChanges> ReadStagedChanges(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                        const Snapshot& snapshot, const std::vector<FieldId>& key) {
  StagedChanges changes;
  IW_ASSIGN(const auto manifests, ReadManifests(run, io, metadata, snapshot));
  for (const ManifestFile& manifest : manifests) {
    if (manifest.added_snapshot_id != snapshot.id) continue;
    IW_TRY(run.Check());
    IW_ASSIGN(ManifestReader reader,
              ManifestReader::Open(io, metadata, manifest, {.metrics = true, .live_only = false}));
    for (;;) {
      ManifestEntry entry;
      IW_ASSIGN(const bool more, reader.Next(entry));
      if (!more) break;
      if (entry.snapshot_id == snapshot.id) IW_TRY(Sort(std::move(entry), snapshot, changes));
    }
  }
  for (const DataFile& file : changes.equality_deletes) {
    IW_TRY(CheckEqualityDelete(metadata, file, key));
  }
  return changes;
}

}  // namespace icewright
