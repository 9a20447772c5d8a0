#include "commit/update_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

namespace icewright {
namespace {

constexpr std::array<std::string_view, 4> kOperations = {"append", "replace", "overwrite",
                                                         "delete"};

Error Invalid(std::string message) { return Error(Code::kInvalidArgument, std::move(message)); }

Status CheckLists(const SnapshotUpdate& update) {
  for (const AddedFile& added : update.added_data_files) {
    if (added.file.content != FileContent::kData) {
      return Invalid("added as data, but holds deletes: " + added.file.file_path.text());
    }
  }
  for (const AddedFile& added : update.added_delete_files) {
    if (added.file.content == FileContent::kData) {
      return Invalid("added as deletes, but holds data: " + added.file.file_path.text());
    }
  }
  for (const DataFile& file : update.removed_data_files) {
    if (file.content != FileContent::kData) {
      return Invalid("removed as data, but holds deletes: " + file.file_path.text());
    }
  }
  for (const DataFile& file : update.removed_delete_files) {
    if (file.content == FileContent::kData) {
      return Invalid("removed as deletes, but holds data: " + file.file_path.text());
    }
  }
  return {};
}

Status CheckDataFiles(const SnapshotUpdate& update) {
  std::unordered_set<Location> removed;
  for (const DataFile& file : update.removed_data_files) removed.insert(file.file_path);
  std::unordered_set<Location> added;
  for (const AddedFile& file : update.added_data_files) {
    if (removed.contains(file.file.file_path)) {
      return Invalid("added and removed in one update: " + file.file.file_path.text());
    }
    if (!added.insert(file.file.file_path).second) {
      return Invalid("added twice in one update: " + file.file.file_path.text());
    }
  }
  for (const AddedFile& deletes : update.added_delete_files) {
    const auto referenced = ReferencedDataFile(deletes.file);
    if (referenced && removed.contains(*referenced)) {
      return Invalid(
          fmt::format("adds deletes for {}, which the same update removes", referenced->text()));
    }
  }
  return {};
}

Status CheckDeleteFiles(const SnapshotUpdate& update) {
  std::unordered_set<ContentKey, ContentKeyHash> removed;
  for (const DataFile& file : update.removed_delete_files) removed.insert(ContentKey::Of(file));
  std::unordered_set<ContentKey, ContentKeyHash> added;
  std::unordered_set<Location> with_dv;
  for (const AddedFile& deletes : update.added_delete_files) {
    const DataFile& file = deletes.file;
    if (removed.contains(ContentKey::Of(file))) {
      return Invalid("added and removed in one update: " + file.file_path.text());
    }
    if (!added.insert(ContentKey::Of(file)).second) {
      return Invalid("added twice in one update: " + file.file_path.text());
    }
    if (!file.is_deletion_vector()) continue;
    const auto referenced = ReferencedDataFile(file);
    if (!referenced) {
      return Invalid("a deletion vector names no data file: " + file.file_path.text());
    }
    if (!with_dv.insert(*referenced).second) {
      return Invalid(fmt::format("adds two deletion vectors for {}: merge them into one first",
                                 referenced->text()));
    }
  }
  return {};
}

Status CheckOperation(const SnapshotUpdate& update) {
  const bool adds_data = !update.added_data_files.empty();
  const bool adds_deletes = !update.added_delete_files.empty();
  const bool removes_data = !update.removed_data_files.empty();
  const bool removes_deletes = !update.removed_delete_files.empty();
  if (std::ranges::find(kOperations, update.operation) == kOperations.end()) {
    return Invalid(fmt::format("no such operation: '{}'", update.operation));
  }
  if (update.operation == "append" && (removes_data || removes_deletes)) {
    return Invalid("an append must not remove files");
  }
  if (update.operation == "delete" && adds_data) {
    return Invalid("a delete must not add data files");
  }
  if (update.manifests) {
    if (update.operation != "replace") return Invalid("a swap of manifests must be a replace");
    if (adds_data || adds_deletes || removes_data || removes_deletes) {
      return Invalid("a swap of manifests must not add or remove files");
    }
    return CheckSwap(*update.manifests);
  }
  if (update.operation != "replace") return {};
  if (!removes_data && !removes_deletes) return Invalid("a replace must remove files");
  if (adds_data && !removes_data) {
    return Invalid("a replace must not add data files, since no data file is replaced");
  }
  if (adds_deletes && !removes_deletes) {
    return Invalid("a replace must not add delete files, since no delete file is replaced");
  }
  return {};
}

Status CheckDeleteKind(const DataFile& file, int format_version) {
  if (format_version < 2) {
    return Invalid("tables of format version 1 have no deletes: " + file.file_path.text());
  }
  if (format_version == 2 && file.is_deletion_vector()) {
    return Invalid("format version 2 has no deletion vectors: " + file.file_path.text());
  }
  if (format_version >= 3 && file.content == FileContent::kPositionDeletes &&
      !file.is_deletion_vector()) {
    return Invalid("format version 3 takes position deletes only as deletion vectors: " +
                   file.file_path.text());
  }
  return {};
}

Status CheckSpecs(const std::vector<AddedFile>& files, const TableMetadata& metadata) {
  for (const AddedFile& added : files) {
    const PartitionSpec* spec = metadata.FindSpec(added.file.spec_id);
    if (spec == nullptr) {
      return Invalid(fmt::format("the table has no partition spec {}, which {} names",
                                 Raw(added.file.spec_id), added.file.file_path.text()));
    }
    if (spec->fields.size() != added.file.partition.size()) {
      return Invalid(fmt::format("{} has {} partition values, its spec {} fields",
                                 added.file.file_path.text(), added.file.partition.size(),
                                 spec->fields.size()));
    }
  }
  return {};
}

}  // namespace

Status CheckUpdate(const SnapshotUpdate& update) {
  IW_TRY(CheckOperation(update));
  IW_TRY(CheckLists(update));
  IW_TRY(CheckDataFiles(update));
  return CheckDeleteFiles(update);
}

Status CheckUpdateFits(const SnapshotUpdate& update, const TableMetadata& metadata) {
  if (metadata.format_version > kMaxFormatVersion) {
    return Error(
        Code::kUnsupported,
        fmt::format("format version {} is newer than this build writes", metadata.format_version));
  }
  if (metadata.is_encrypted()) {
    return Error(Code::kUnsupported, "the table is encrypted; this build does not write to it");
  }
  const auto ref = metadata.refs.find(update.branch);
  if (ref != metadata.refs.end() && ref->second.kind == SnapshotRef::Kind::kTag) {
    return Invalid(fmt::format("'{}' is a tag; a commit needs a branch", update.branch));
  }
  if (update.branch.empty()) return Invalid("the branch has no name");
  for (const AddedFile& added : update.added_delete_files) {
    IW_TRY(CheckDeleteKind(added.file, metadata.format_version));
  }
  IW_TRY(CheckSpecs(update.added_data_files, metadata));
  return CheckSpecs(update.added_delete_files, metadata);
}

}  // namespace icewright
