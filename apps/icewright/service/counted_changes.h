#pragma once

/// \file apps/icewright/service/counted_changes.h
/// The counts of a TableChange under the names that the JSON and the metrics give them.

#include <cstdint>

#include "schedule/table_change.h"

namespace icewright::cli {

struct CountedChange {
  const char* name;
  std::int64_t TableChange::*member;
};

inline constexpr CountedChange kCountedChanges[] = {
    {"commits", &TableChange::commit_count},
    {"data_files", &TableChange::data_file_count},
    {"data_bytes", &TableChange::data_file_size_in_bytes},
    {"position_delete_files", &TableChange::pos_delete_file_count},
    {"position_delete_records", &TableChange::pos_delete_record_count},
    {"equality_delete_files", &TableChange::eq_delete_file_count},
    {"equality_delete_records", &TableChange::eq_delete_record_count},
};

}  // namespace icewright::cli
