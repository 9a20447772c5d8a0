#pragma once

/// \file scan/metadata_tables.h
/// The rows behind `icewright inspect T WHAT`: Iceberg's metadata tables, with their column names.
///
/// Java twins: MetadataTableType and the tables it names.

#include <functional>
#include <string>
#include <vector>

#include "base/run_context.h"
#include "codec/json_fwd.h"
#include "io/file_io.h"
#include "scan/plan_files.h"
#include "table/metadata.h"

namespace icewright {

struct MetadataTableRequest {
  std::string what;                ///< One of MetadataTableNames(); '_' is as good as '-'.
  SnapshotSelector snapshot = {};  ///< For tables of one snapshot; others ignore it.
};

/// "snapshots", "history", "refs", "files", ... in the order of documentation.
std::vector<std::string> MetadataTableNames();

/// Called once, before the first row.
using ColumnsVisitor = std::function<Status(const std::vector<std::string>&)>;
/// A row is a JSON array with a value for each column. Partitions and files are objects, per-column
/// numbers and bounds are objects keyed by field id; partition values and bounds are readable,
/// times are ISO 8601 in UTC.
using RowVisitor = std::function<Status(Json&&)>;

/// Streams the table's rows. Cost: reads the manifests of the snapshot ("all" tables: of all
/// snapshots) where rows are of files; memory is a few manifests, for `partitions` all partitions.
/// Errors: kNotFound for an unknown table, naming those that there are, and for the snapshot;
/// kUnsupported for position-deletes; those of the visitors and of io.
Status ScanMetadataTable(RunContext& run, FileIO& io, const TableMetadata& metadata,
                         const Location& metadata_location, const MetadataTableRequest& request,
                         const ColumnsVisitor& on_columns, const RowVisitor& on_row);

}  // namespace icewright
