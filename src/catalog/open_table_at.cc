#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/filesystem/filesystem_operations.h"
#include "catalog/filesystem/version_files.h"
#include "catalog/read_only_operations.h"

namespace icewright {
namespace {

// What a metadata folder holds, by the way its files are named.
struct FolderContent {
  bool has_version_files = false;       // vN.metadata.json
  std::vector<FileStatus> of_catalogs;  // NNNNN-uuid.metadata.json with the highest N
  int of_catalogs_version = -1;
};

Result<FolderContent> LookInto(FileIO& io, const Location& metadata_folder) {
  FolderContent content;
  IW_TRY(ForEachMetadataFile(io, metadata_folder, [&](const FileStatus& file) {
    const std::string_view name = file.location.file_name();
    if (FileSystemVersionOf(name)) {
      content.has_version_files = true;
    } else if (const auto number = MetadataVersionOf(name)) {
      if (*number > content.of_catalogs_version) content.of_catalogs.clear();
      if (*number >= content.of_catalogs_version) content.of_catalogs.push_back(file);
      content.of_catalogs_version = std::max(content.of_catalogs_version, *number);
    }
    return true;
  }));
  return content;
}

// Commits that lost a race may have left a file of the same number: the one written last is
// likelier to be the catalog's. Nobody but the catalog knows, hence read-only.
Result<Location> NewestOfCatalogs(FileIO& io, const Location& metadata_folder) {
  IW_ASSIGN(const FolderContent content, LookInto(io, metadata_folder));
  if (content.of_catalogs.empty()) {
    return Error(Code::kNotFound, "no metadata file is left in " + metadata_folder.text());
  }
  return std::max_element(content.of_catalogs.begin(), content.of_catalogs.end(),
                          [](const FileStatus& a, const FileStatus& b) {
                            return std::pair(a.modified, a.location) <
                                   std::pair(b.modified, b.location);
                          })
      ->location;
}

Result<Table> OpenWith(RunContext& run, std::string name,
                       std::shared_ptr<TableOperations> operations, std::shared_ptr<FileIO> io) {
  IW_ASSIGN(TableState state, operations->Load(run));
  return Table(std::move(name), std::move(operations), std::move(io), std::move(state));
}

Result<Table> OpenMetadataFile(RunContext& run, const Location& location,
                               std::shared_ptr<FileIO> io) {
  auto operations = std::make_shared<ReadOnlyOperations>(
      [location]() -> Result<Location> { return location; },
      fmt::format("{} is one version of a table, opened read-only; open the table's folder or its "
                  "catalog name to change it",
                  location.text()),
      io);
  return OpenWith(run, location.text(), std::move(operations), std::move(io));
}

}  // namespace

Result<Table> OpenTableAt(RunContext& run, const Location& location, std::shared_ptr<FileIO> io) {
  if (IsMetadataFileName(location.file_name())) return OpenMetadataFile(run, location, io);
  const Location folder(WithoutTrailingSlash(location.text()));
  const Location metadata_folder = folder.Child("metadata");
  IW_ASSIGN(const FolderContent content, LookInto(*io, metadata_folder));
  if (!content.of_catalogs.empty()) {
    // Also when old vN files lie there: the table has moved into a catalog since.
    auto operations = std::make_shared<ReadOnlyOperations>(
        [io, metadata_folder] { return NewestOfCatalogs(*io, metadata_folder); },
        fmt::format("{} belongs to a catalog; a commit by path would fork it. Use its name there, "
                    "or give it one with `icewright register`",
                    folder.text()),
        io);
    return OpenWith(run, location.text(), std::move(operations), io);
  }
  if (content.has_version_files) {
    auto operations = std::make_shared<FilesystemOperations>(folder.text(), folder, io);
    return OpenWith(run, location.text(), std::move(operations), io);
  }
  return Error(Code::kNotFound, fmt::format("there is no table at {}: neither vN.metadata.json nor "
                                            "NNNNN-uuid.metadata.json is in {}",
                                            location.text(), metadata_folder.text()));
}

}  // namespace icewright
