#pragma once

/// \file data/rewrite_engine.h
/// How a group of data files becomes new data files. The seam between planning and bytes: engines
/// differ in how they move rows (decode and encode; splice pages), not in what comes out.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

struct RewriteGroupRequest {
  std::vector<FileTask> tasks = {};
  SpecId output_spec_id{0};
  /// A writer starts the next file when this many bytes are written or buffered.
  std::int64_t roll_at_bytes = 0;
  /// Files the planner expects; a hint for balanced outputs.
  std::int64_t expected_output_files = 1;
  /// Order of rows in the group; unset: as read.
  std::optional<SortOrder> sort_order = {};
  /// Compare a hash of every value read with one of every value written.
  bool verify_values = false;
  /// Threads the group may use for itself. >= 1
  int threads = 1;
};

struct RewrittenGroup {
  std::vector<DataFile> added;
  std::int64_t rows_read = 0;
  std::int64_t rows_deleted = 0;
  std::int64_t rows_written = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  /// Splicing: bytes of inputs by what was done with them; empty if all was decoded.
  std::map<std::string, std::int64_t> bytes_by_treatment;
  std::vector<std::string> notes;  ///< "row groups of 64 MiB instead of 128 MiB: memory limit"
};

/// A plan of an engine for a group.
struct RewriteEstimate {
  std::map<std::string, std::int64_t> bytes_by_treatment = {};
  std::vector<std::string> reasons = {};  ///< "decode 12 MiB: column a.b: INT96"
};

/// One engine serves many groups at once. Thread-safe.
class RewriteEngine {
 public:
  virtual ~RewriteEngine() = default;

  /// Reads the group with its deletes applied and writes it with the table's current schema and
  /// properties. Before it returns it proves: rows read = written + deleted, and per column null
  /// counts and sums agree (else kInternal). On an error every file it wrote is deleted again; what
  /// cannot be deleted is named in the message. Stops within one batch or page.
  virtual Result<RewrittenGroup> Rewrite(RunContext& run, const RewriteGroupRequest& request) = 0;

  /// What Rewrite would do, as far as metadata tells. Cost: reads a footer of each file at most.
  virtual Result<RewriteEstimate> Estimate(RunContext& run, const RewriteGroupRequest& request) = 0;
};

/// Decodes into Arrow batches and encodes again. `metadata` and `io` must outlive it.
/// `operation_id` becomes part of file names.
Result<std::unique_ptr<RewriteEngine>> MakeDecodingEngine(
    std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    std::string operation_id);

/// Which way groups go.
enum class EngineChoice : std::uint8_t {
  kAuto,    ///< by estimated cost
  kSplice,  ///< pages are moved wherever they can be
  kDecode,
};

/// "auto", "splice", "decode". Errors: kInvalidArgument.
Result<EngineChoice> ParseEngineChoice(std::string_view text);

/// Moves Parquet pages without decoding their values, and decodes what cannot be moved: pages,
/// columns, files or whole groups. See docs/splicing.md. Parameters as MakeDecodingEngine.
Result<std::unique_ptr<RewriteEngine>> MakeEngine(EngineChoice choice,
                                                  std::shared_ptr<const TableMetadata> metadata,
                                                  std::shared_ptr<FileIO> io,
                                                  std::string operation_id);

}  // namespace icewright
