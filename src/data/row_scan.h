#pragma once

/// \file data/row_scan.h
/// Rows of a table for people and for comparison, without Arrow types.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "codec/json_fwd.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/expression.h"
#include "table/metadata.h"

namespace icewright {

struct RowScanOptions {
  Expression filter = {};                 ///< evaluated on every row
  std::vector<std::string> columns = {};  ///< top-level names; empty: all. `_row_id`,
                                          ///< `_last_updated_sequence_number`, `_file`, `_pos` too
  std::optional<std::int64_t> limit = {};
};

/// Calls `visit` with each row as a JSON array in the order of `columns`; values as in
/// data/row_json.h. One batch in memory. `schema`: what the rows are shown in, the current one or a
/// snapshot's. Errors: kInvalidArgument for an unknown column; those of BatchReader; those of
/// visit.
Status ScanRows(RunContext& run, FileIO& io, const TableMetadata& metadata, const Schema& schema,
                const std::vector<FileTask>& tasks, const RowScanOptions& options,
                const std::function<Status(const Json&)>& visit);

struct RowDigest {
  std::int64_t rows = 0;
  std::uint64_t digest = 0;                          ///< docs/row-digest.md
  std::optional<std::uint64_t> lineage_digest = {};  ///< v3
};

/// Files in parallel over run.threads(); always in the table's current schema.
Result<RowDigest> DigestRows(RunContext& run, FileIO& io, const TableMetadata& metadata,
                             const std::vector<FileTask>& tasks);

}  // namespace icewright
