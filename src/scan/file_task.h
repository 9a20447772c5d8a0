#pragma once

/// \file scan/file_task.h
/// What a reader needs to know of one data file: the file, and the deletes that apply to it.

#include <memory>
#include <vector>

#include "base/ids.h"
#include "manifest/data_file.h"

namespace icewright {

/// A delete file or DV with its data sequence number. Shared by all tasks it applies to. Immutable.
struct DeleteTask {
  DataFile file;
  SequenceNumber sequence_number{0};
};

struct FileTask {
  DataFile data_file;
  SequenceNumber sequence_number{0};  ///< data sequence number
  std::optional<SequenceNumber> file_sequence_number = {};
  std::vector<std::shared_ptr<const DeleteTask>> deletes;  ///< in order of sequence number
};

}  // namespace icewright
