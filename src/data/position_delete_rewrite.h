#pragma once

/// \file data/position_delete_rewrite.h
/// Position delete files of one partition become fewer ones, or deletion vectors; positions of data
/// files that no longer live go.
///
/// Spec: "Delete Formats", "Deletion Vectors".   Java twin: SparkBinPackPositionDeletesRewriter.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

/// A live data file that position deletes of the group apply to.
struct DeleteTarget {
  Location data_file;
  SequenceNumber sequence_number{0};
};

struct PositionDeletesRequest {
  SpecId spec_id{0};
  StructValue partition = {};
  std::vector<std::shared_ptr<const DeleteTask>> inputs = {};  ///< No deletion vectors.
  std::vector<DeleteTarget> targets = {};                      ///< Each data file once.
  bool as_vectors = false;          ///< One per data file, all in one Puffin file.
  bool file_per_data_file = false;  ///< write.delete.granularity file
  std::int64_t roll_at_bytes = 0;
};

/// A new file with the sequence number that it needs: the greatest of the inputs in it.
struct NewDeletes {
  DataFile file;
  SequenceNumber sequence_number{0};
};

struct RewrittenPositionDeletes {
  std::vector<NewDeletes> added = {};
  std::int64_t rows_read = 0;
  std::int64_t rows_written = 0;  ///< Each position once.
  std::int64_t rows_dropped = 0;  ///< They name no target, or one that is younger than the input.
};

/// Reads the inputs one after the other and keeps the positions of the targets as bitmaps, within
/// the run's memory. Only positions that deleted rows before delete them afterwards: an input's
/// rows count for a target only if its sequence number is not smaller than the target's. Output is
/// sorted by path and position; formats by write.delete.format.default. `operation_id` becomes part
/// of file names. On an error every file it wrote is deleted again.
/// Errors: kCorrupt, kExhausted, kUnsupported, those of io.
Result<RewrittenPositionDeletes> RewritePositionDeleteFiles(
    RunContext& run, const std::shared_ptr<FileIO>& io,
    const std::shared_ptr<const TableMetadata>& metadata, const PositionDeletesRequest& request,
    const std::string& operation_id);

}  // namespace icewright
