#pragma once

/// \file maintain/task_store.h
/// File tasks of a plan, packed: a plan of a million files takes less than their paths.

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "scan/file_task.h"
#include "table/literal.h"

namespace icewright {

/// Appended to while a plan is made, then read by many threads. What a rewrite does not need of a
/// data file (counts, bounds, split offsets) is dropped.
class TaskStore {
 public:
  void Add(const FileTask& task);
  std::size_t size() const { return offsets_.size(); }

  /// The task as it was added, without column metrics.
  FileTask Get(std::size_t index) const;

 private:
  std::uint32_t PartitionNumber(const StructValue& partition);

  std::vector<std::uint64_t> offsets_;  // of each task in packed_
  std::deque<Bytes> blocks_;            // packed tasks; a block never grows past its capacity
  std::vector<StructValue> partitions_;
  std::unordered_map<StructValue, std::uint32_t, StructValueHash, StructValueEqual> numbers_;
  std::vector<std::shared_ptr<const DeleteTask>> deletes_;
};

}  // namespace icewright
