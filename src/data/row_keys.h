#pragma once

/// \file data/row_keys.h
/// Keys of the rows of data files and of equality deletes as bytes, so that they can be looked up.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

/// Equal keys, and only they, have equal bytes; null is equal to null. No key is the beginning of
/// another. Thread-safe after KeepOnly.
class RowKeys {
 public:
  using Visit = std::function<Status(std::int64_t position, ByteView key)>;

  /// Keys of these columns, in the types of the current schema. Errors: kUnsupported (a column that
  /// is no primitive, encryption), kCorrupt.
  static Result<RowKeys> Make(std::shared_ptr<const TableMetadata> metadata,
                              std::shared_ptr<FileIO> io, const std::vector<FieldId>& ids);
  RowKeys(RowKeys&&) noexcept;
  RowKeys& operator=(RowKeys&&) noexcept;
  ~RowKeys();

  /// Columns, types, and the name mapping that files without field ids are read by. Bytes of keys
  /// compare only if this is the same.
  const std::string& layout() const;

  /// From now on VisitRows leaves out rows whose key is in none of these delete files. Reads them
  /// in parallel. Errors: as VisitRows; kExhausted.
  Status KeepOnly(RunContext& run, const std::vector<DataFile>& deletes);

  /// All rows of a data file in their order, also those that deletes drop. Errors: kCorrupt,
  /// kUnsupported, kExhausted, kCancelled, those of io and of `visit`; all name the file.
  Status VisitRows(RunContext& run, const DataFile& data_file, const Visit& visit) const;

  /// All rows of an equality delete. Errors: as VisitRows.
  Status VisitDeletes(RunContext& run, const DataFile& deletes, const Visit& visit) const;

 private:
  struct Rep;
  explicit RowKeys(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
