#pragma once

/// \file scan/delete_index.h
/// Which deletes apply to a data file.
///
/// Spec: "Scan Planning", delete rules.   Java twin: DeleteFileIndex.

#include <memory>
#include <vector>

#include "base/result.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

/// Built once, then read by many. Immutable after Build.
class DeleteIndex {
 public:
  /// Metrics of the deletes are used and then dropped from what Find returns, except the bounds of
  /// file_path. `after`: ignore deletes whose sequence number is not greater.
  /// Errors: kCorrupt for two DVs of one data file.
  static Result<DeleteIndex> Build(const TableMetadata& metadata, std::vector<DeleteTask> deletes,
                                   std::optional<SequenceNumber> after = {});

  DeleteIndex(DeleteIndex&&) noexcept;
  DeleteIndex& operator=(DeleteIndex&&) noexcept;
  ~DeleteIndex();

  bool empty() const;

  /// True if Find returns fewer deletes for a file whose metrics are there.
  bool uses_metrics() const;

  /// Deletes for a data file with this data sequence number, by the rules of the spec: a DV
  /// excludes position deletes; equality deletes are pruned by the file's metrics where it has
  /// them. Errors: kCorrupt (DV older than its file, DV of another partition).
  Result<std::vector<std::shared_ptr<const DeleteTask>>> Find(const DataFile& file,
                                                              SequenceNumber sequence_number) const;

 private:
  struct Rep;
  explicit DeleteIndex(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
