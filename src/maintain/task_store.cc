#include "maintain/task_store.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace icewright {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kOffsetBits = 40;  // an offset is block << 40 | position

constexpr std::size_t kMaxShared = std::numeric_limits<std::uint16_t>::max();

/// What of a task has a fixed size. The path follows it, without what it shares at its start with
/// the first path of the block, which is whole.
struct Packed {
  std::int64_t record_count;
  std::int64_t file_size_in_bytes;
  std::int64_t sequence_number;
  std::int64_t file_sequence_number;
  std::int64_t first_row_id;
  std::uint64_t first_delete;
  std::uint32_t delete_count;
  std::uint32_t partition;
  std::int32_t spec_id;
  std::int32_t sort_order_id;
  std::uint32_t path_length;
  std::uint16_t shared_length;
  FileFormat format;
  bool has_file_sequence_number : 1;
  bool has_first_row_id : 1;
  bool has_sort_order_id : 1;
};
static_assert(sizeof(Packed) == 72, "a plan holds millions of these");

std::string_view FirstPath(const Bytes& block) {
  Packed first;
  std::memcpy(&first, block.data(), sizeof(Packed));
  return std::string_view(block).substr(sizeof(Packed), first.path_length);
}

std::size_t SharedLength(std::string_view a, std::string_view b) {
  const std::size_t most = std::min({a.size(), b.size(), kMaxShared});
  const auto end =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(most), b.begin());
  return static_cast<std::size_t>(end.first - a.begin());
}

}  // namespace

std::uint32_t TaskStore::PartitionNumber(const StructValue& partition) {
  const auto [at, is_new] =
      numbers_.try_emplace(partition, static_cast<std::uint32_t>(partitions_.size()));
  if (is_new) partitions_.push_back(partition);
  return at->second;
}

void TaskStore::Add(const FileTask& task) {
  const DataFile& file = task.data_file;
  const std::string& path = file.file_path.text();
  Packed packed{};
  packed.record_count = file.record_count;
  packed.file_size_in_bytes = file.file_size_in_bytes;
  packed.sequence_number = Raw(task.sequence_number);
  packed.has_file_sequence_number = task.file_sequence_number.has_value();
  packed.file_sequence_number = Raw(task.file_sequence_number.value_or(SequenceNumber{0}));
  packed.has_first_row_id = file.first_row_id.has_value();
  packed.first_row_id = file.first_row_id.value_or(0);
  packed.first_delete = deletes_.size();
  packed.delete_count = static_cast<std::uint32_t>(task.deletes.size());
  packed.partition = PartitionNumber(file.partition);
  packed.spec_id = Raw(file.spec_id);
  packed.has_sort_order_id = file.sort_order_id.has_value();
  packed.sort_order_id = Raw(file.sort_order_id.value_or(SortOrderId{0}));
  packed.format = file.file_format;
  deletes_.insert(deletes_.end(), task.deletes.begin(), task.deletes.end());

  const std::size_t need = sizeof(Packed) + path.size();
  if (blocks_.empty() || blocks_.back().size() + need > kBlockBytes) {
    blocks_.emplace_back();
    blocks_.back().reserve(std::max(kBlockBytes, need));
  }
  Bytes& block = blocks_.back();
  const std::size_t shared = block.empty() ? 0 : SharedLength(path, FirstPath(block));
  packed.shared_length = static_cast<std::uint16_t>(shared);
  packed.path_length = static_cast<std::uint32_t>(path.size() - shared);
  offsets_.push_back(static_cast<std::uint64_t>(blocks_.size() - 1) << kOffsetBits | block.size());
  block.append(reinterpret_cast<const char*>(&packed), sizeof(Packed));
  block.append(path, shared);
}

FileTask TaskStore::Get(std::size_t index) const {
  const std::uint64_t offset = offsets_[index];
  const Bytes& block = blocks_[offset >> kOffsetBits];
  const char* at = block.data() + (offset & ((std::uint64_t{1} << kOffsetBits) - 1));
  Packed packed;
  std::memcpy(&packed, at, sizeof(Packed));
  FileTask task;
  DataFile& file = task.data_file;
  std::string path(FirstPath(block).substr(0, packed.shared_length));
  path.append(at + sizeof(Packed), packed.path_length);
  file.file_path = Location(std::move(path));
  file.file_format = packed.format;
  file.partition = partitions_[packed.partition];
  file.spec_id = SpecId{packed.spec_id};
  file.record_count = packed.record_count;
  file.file_size_in_bytes = packed.file_size_in_bytes;
  if (packed.has_sort_order_id) file.sort_order_id = SortOrderId{packed.sort_order_id};
  if (packed.has_first_row_id) file.first_row_id = packed.first_row_id;
  task.sequence_number = SequenceNumber{packed.sequence_number};
  if (packed.has_file_sequence_number) {
    task.file_sequence_number = SequenceNumber{packed.file_sequence_number};
  }
  const auto first = deletes_.begin() + static_cast<std::ptrdiff_t>(packed.first_delete);
  task.deletes.assign(first, first + packed.delete_count);
  return task;
}

}  // namespace icewright
