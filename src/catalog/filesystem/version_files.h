#pragma once

/// \file catalog/filesystem/version_files.h
/// vN.metadata.json and version-hint.text in a table's metadata folder.
///
/// Java twin: HadoopTableOperations.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_io.h"

namespace icewright {

inline constexpr std::string_view kVersionHint = "version-hint.text";

struct VersionFile {
  int version = 0;
  Location location;
};

/// "v12.metadata.json", "v12.gz.metadata.json" or, from old writers, "v12.metadata.json.gz" -> 12.
std::optional<int> FileSystemVersionOf(std::string_view file_name);

/// True for the names that metadata files of any catalog have.
bool IsMetadataFileName(std::string_view file_name);

/// The names that version N can have, in the order in which readers look for them.
std::array<std::string, 3> NamesOfVersion(int version);

/// The file of exactly this version; unset if there is none. Cost: up to three requests.
Result<std::optional<VersionFile>> FindVersion(FileIO& io, const Location& metadata_folder,
                                               int version);

/// The current version: from the hint (else the highest in the folder) upwards until the next is
/// missing. Unset if there is none.
Result<std::optional<VersionFile>> FindCurrentVersion(FileIO& io, const Location& metadata_folder);

/// Direct children of a metadata folder that are metadata files; visit returns false to stop.
Status ForEachMetadataFile(FileIO& io, const Location& metadata_folder,
                           const std::function<bool(const FileStatus&)>& visit);

}  // namespace icewright
