#include "schedule/table_change.h"

#include <limits>

namespace icewright {
namespace {

void AddTo(std::int64_t& sum, std::int64_t n) {
  if (__builtin_add_overflow(sum, n, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

}  // namespace

TableChange& TableChange::operator+=(const TableChange& other) {
  AddTo(data_file_count, other.data_file_count);
  AddTo(data_file_size_in_bytes, other.data_file_size_in_bytes);
  AddTo(pos_delete_file_count, other.pos_delete_file_count);
  AddTo(pos_delete_record_count, other.pos_delete_record_count);
  AddTo(eq_delete_file_count, other.eq_delete_file_count);
  AddTo(eq_delete_record_count, other.eq_delete_record_count);
  AddTo(commit_count, other.commit_count);
  return *this;
}

void TableChange::AddFile(const DataFile& file) {
  switch (file.content) {
    case FileContent::kData:
      *this += {.data_file_count = 1, .data_file_size_in_bytes = file.file_size_in_bytes};
      break;
    case FileContent::kPositionDeletes:
      *this += {.pos_delete_file_count = 1, .pos_delete_record_count = file.record_count};
      break;
    case FileContent::kEqualityDeletes:
      *this += {.eq_delete_file_count = 1, .eq_delete_record_count = file.record_count};
      break;
  }
}

}  // namespace icewright
