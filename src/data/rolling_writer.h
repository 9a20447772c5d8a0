#pragma once

/// \file data/rolling_writer.h
/// Rows of one partition as a sequence of files, and the set of such sequences that a rewrite has
/// open.
///
/// Java twins: RollingFileWriter, FanoutDataWriter.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "data/file_writer.h"
#include "table/literal.h"

namespace icewright {

/// What all files of a rewrite are made with. `new_location` names the next file of a partition.
struct RollingOptions {
  std::shared_ptr<const WritePlan> plan;
  FileIO* io = nullptr;
  std::shared_ptr<arrow::MemoryPool> pool;
  std::int64_t roll_at_bytes = 0;
  /// What a row took in the files that are replaced; 0: not known. The plan's number of files comes
  /// from the bytes of those, so it is met only if they count where the writer merely guesses.
  double input_row_bytes = 0;
  /// The last of the expected files may exceed roll_at_bytes by a tenth: an estimate that is a
  /// little too low must not leave a tiny file behind.
  std::int64_t expected_files = 1;
  SpecId spec_id{0};
  std::function<Location(const StructValue&)> new_location;
};

/// Files of one partition, one after the other. Single-threaded.
class RollingWriter {
 public:
  RollingWriter(const RollingOptions& options, StructValue partition)
      : options_(&options), partition_(std::move(partition)) {}

  Status Write(RunContext& run, const arrow::RecordBatch& batch);

  /// Closes the open file, if any.
  Status Close(RunContext& run);

  bool is_open() const { return writer_ != nullptr; }
  std::int64_t buffered_bytes() const { return writer_ ? writer_->buffered_bytes() : 0; }
  Status EndRowGroup(RunContext& run);

  /// Files closed so far.
  std::vector<DataFile>& files() { return files_; }

  /// The file whose close failed: it may be there all the same.
  const std::optional<Location>& doubtful() const { return doubtful_; }

 private:
  std::int64_t RollLimit() const;
  std::int64_t BytesInFile() const;

  const RollingOptions* options_;
  StructValue partition_;
  std::unique_ptr<FileWriter> writer_;
  Location location_;  // of writer_
  std::int64_t rows_in_file_ = 0;
  std::vector<DataFile> files_;
  std::optional<Location> doubtful_;
};

/// One RollingWriter per partition; of those at most `max_open` have a file open. Does not move.
/// Single-threaded.
class FanoutWriter {
 public:
  FanoutWriter(RollingOptions options, int max_open)
      : options_(std::move(options)), max_open_(max_open) {}

  Status Write(RunContext& run, const StructValue& partition, const arrow::RecordBatch& batch);

  /// Ends the largest open row group. False if none holds `min_bytes`.
  Result<bool> GiveBack(RunContext& run, std::int64_t min_bytes);

  /// Closes all; the files in order of first appearance of their partitions.
  Result<std::vector<DataFile>> Close(RunContext& run);

  /// Everything closed so far, also after an error, and what a failed close may have left; for
  /// removal.
  std::vector<Location> ClosedFiles();

  /// True if a file was closed only because too many were open.
  bool closed_early() const { return closed_early_; }

 private:
  struct Slot {
    std::unique_ptr<RollingWriter> writer;
    std::uint64_t last_used = 0;
  };
  Status MakeRoom(RunContext& run);

  RollingOptions options_;
  int max_open_;
  std::uint64_t clock_ = 0;
  bool closed_early_ = false;
  std::vector<Slot> slots_;
  std::unordered_map<StructValue, std::size_t, StructValueHash, StructValueEqual> by_partition_;
};

}  // namespace icewright
