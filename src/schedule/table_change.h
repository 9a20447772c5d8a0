#pragma once

/// \file schedule/table_change.h
/// What happened to a table, as seven counters that add up.
///
/// Java twin: TableChange.

#include <cstdint>

#include "manifest/data_file.h"

namespace icewright {

/// Only what was added counts; a removed file never does.
struct TableChange {
  std::int64_t data_file_count = 0;
  std::int64_t data_file_size_in_bytes = 0;
  std::int64_t pos_delete_file_count = 0;  ///< Deletion vectors, too.
  std::int64_t pos_delete_record_count = 0;
  std::int64_t eq_delete_file_count = 0;
  std::int64_t eq_delete_record_count = 0;
  std::int64_t commit_count = 0;

  bool empty() const { return *this == TableChange(); }

  /// Member by member; stays at the largest number instead of running over.
  TableChange& operator+=(const TableChange& other);

  /// One added data or delete file. Bytes of delete files are not counted.
  void AddFile(const DataFile& file);

  friend bool operator==(const TableChange&, const TableChange&) = default;
};

}  // namespace icewright
