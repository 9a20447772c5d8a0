#pragma once

/// \file scan/equality_pruning.h
/// Can an equality delete remove a row of a data file? Decided from the metrics of both.
///
/// Java twin: DeleteFileIndex.canContainEqDeletesForFile.

#include <cstdint>
#include <optional>
#include <vector>

#include "manifest/data_file.h"
#include "table/schema.h"

namespace icewright::scan_internal {

/// Metrics of one column of one file, decoded.
struct ColumnRange {
  FieldId field{};
  std::optional<std::int64_t> values = {};
  std::optional<std::int64_t> nulls = {};
  Literal lower = {};  ///< Null: unknown.
  Literal upper = {};
};

/// The columns of an equality delete that can be compared. Empty: it may match any file.
struct EqualityColumns {
  struct One {
    const Field* field = nullptr;  ///< In the current schema.
    bool never_null = false;       ///< By the schema.
    ColumnRange range;
  };
  std::vector<One> columns;
};

/// Columns that the schema no longer has, and nested ones, are left out. Borrows the schema.
EqualityColumns EqualityColumnsOf(const Schema& schema, const DataFile& delete_file);

/// Ranges of one data file, decoded when first asked for. Borrows the file. Single-threaded.
class DataRanges {
 public:
  explicit DataRanges(const DataFile& file) : file_(file) {}
  const ColumnRange& Of(const Field& field);

 private:
  const DataFile& file_;
  std::vector<ColumnRange> known_;
};

/// False only if no row of the file can be equal to a row of the delete.
bool MayDelete(const EqualityColumns& deletes, DataRanges& data);

}  // namespace icewright::scan_internal
