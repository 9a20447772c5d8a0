#pragma once

/// \file catalog/metadata_files.h
/// The metadata files of a table: their names, reading them, and what the next one says.
///
/// Used by every catalog that keeps metadata files itself.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "catalog/table.h"
#include "io/file_io.h"
#include "table/metadata.h"
#include "table/table_update.h"

namespace icewright {

inline constexpr std::string_view kWriteMetadataPath = "write.metadata.path";
inline constexpr std::string_view kMetadataCompression = "write.metadata.compression-codec";
inline constexpr std::string_view kDeleteAfterCommit = "write.metadata.delete-after-commit.enabled";

/// Reads and parses one metadata file; storage that is away for a moment is asked again.
/// Errors: kNotFound, kCorrupt, kUnsupported, those of storage.
Result<TableState> ReadTableState(RunContext& run, FileIO& io, const Location& metadata_location);

/// "json" or gzip of it, as write.metadata.compression-codec asks. Errors: kInvalidArgument.
Result<bool> WantsGzip(const Properties& properties);
Result<Bytes> EncodeMetadata(const TableMetadata& metadata);

/// Where a metastore-style table keeps them: write.metadata.path, else LOCATION/metadata.
Location MetadataFolderOf(const TableMetadata& metadata);

/// The folder that a file is in.
Location FolderOf(const Location& file);

/// "00003-UUID.metadata.json" or "00003-UUID.gz.metadata.json".
std::string VersionedMetadataName(int version, std::string_view uuid, bool gzip);

/// The metadata that a commit writes.
struct NextMetadata {
  TableMetadata metadata;
  std::vector<Location> dropped;  ///< Fell out of the metadata log.
};

/// Checks the requirements (and that the table is still that of `base`) against `current`, applies
/// the updates. Removing snapshots, specs or schemas conflicts with any branch, tag or snapshot
/// that `base` did not have: it may need what goes. Pure but for the clock. Errors: kConflict,
/// kInvalidArgument, kUnsupported.
Result<NextMetadata> PlanCommit(const RunContext& run, const TableState& base,
                                const TableState& current,
                                std::span<const TableRequirement> requirements,
                                std::span<const TableUpdate> updates);

/// First metadata of a table at `location`, by the request and the catalog's `table-default.` and
/// `table-override.` properties. Errors: kInvalidArgument, kUnsupported.
Result<TableMetadata> PlanCreate(RunContext& run, const CreateTableRequest& request,
                                 Location location, const Properties& catalog_properties);

/// After a commit that is known to have landed: deletes the dropped files if the table's properties
/// ask for it. Failures are logged: orphan clean-up finds the rest.
void DeleteDropped(RunContext& run, FileIO& io, const NextMetadata& next);

/// Removes a file that no commit named. A failure is logged.
void DiscardFile(RunContext& run, FileIO& io, const Location& location);

/// "file:/w/" -> "file:/w"; "/" stays.
std::string WithoutTrailingSlash(std::string_view text);

}  // namespace icewright
