#pragma once

/// \file maintain/entry_sorter.h
/// Manifest entries, as encoded bytes, in the order of their partitions; what does not fit into
/// memory goes to sorted runs on the local disk.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/memory_budget.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "io/spill_folder.h"
#include "table/literal.h"

namespace icewright {

/// What is known of an encoded entry without decoding it.
struct EntryFacts {
  std::uint32_t partition = 0;  ///< Position in the batch's or the sorter's partitions.
  std::uint32_t size = 0;       ///< Bytes of the record.
  std::int64_t rows = 0;
  SequenceNumber sequence_number{0};
};

/// Entries of one manifest, one after the other.
struct EntryBatch {
  Bytes records;
  std::vector<EntryFacts> entries;
  std::vector<StructValue> partitions;
};

/// Entries of one partition keep the order they came in. Single-threaded.
class EntrySorter {
 public:
  using Compare = std::function<std::strong_ordering(const StructValue&, const StructValue&)>;
  using Visit = std::function<Status(const EntryFacts&, ByteView record)>;

  /// Holds at most `buffer_bytes` of entries; their distinct partitions come on top.
  EntrySorter(RunContext& run, Compare compare, std::int64_t buffer_bytes);
  ~EntrySorter();

  /// Errors: kExhausted if the partitions alone do not fit into the run's memory, kIo.
  Status Add(EntryBatch batch);

  /// All entries in order. Call once. Errors: those of visit, kIo, a stop.
  Status ForEach(const Visit& visit);

  const StructValue& partition(std::uint32_t number) const { return *partitions_[number]; }
  std::size_t runs() const { return runs_.size(); }

 private:
  class RunReader;
  struct Entry {
    EntryFacts facts;
    std::uint32_t batch = 0;
    std::size_t offset = 0;
  };

  Result<std::uint32_t> NumberOf(StructValue partition);
  void SortBuffer();
  Status Spill();
  std::vector<std::uint32_t> Ranks() const;
  Status Merge(const std::vector<std::uint32_t>& ranks, const Visit& visit);

  RunContext& run_;
  const Compare compare_;
  const std::int64_t buffer_bytes_;
  std::unordered_map<StructValue, std::uint32_t, StructValueHash, StructValueEqual> numbers_;
  std::vector<const StructValue*> partitions_;  // keys of numbers_
  std::vector<Bytes> batches_;
  std::vector<Entry> entries_;
  Reservation buffered_;
  Reservation partition_memory_;
  std::optional<SpillFolder> folder_;
  std::shared_ptr<FileIO> disk_;
  std::vector<Location> runs_;
};

}  // namespace icewright
