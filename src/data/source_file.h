#pragma once

/// \file data/source_file.h
/// A data or delete file as it is: its columns with their own types, before projection.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/run_context.h"
#include "data/key_filter.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/name_mapping.h"
#include "table/schema.h"

namespace icewright {

/// A column of the file, or a part of one. Children: struct: its fields; list: the element; map:
/// key and value; else none.
struct SourceField {
  std::string name;
  std::optional<FieldId> id = {};
  std::shared_ptr<arrow::DataType> type = {};
  std::vector<SourceField> children = {};
  int leaf = -1;  ///< Parquet: number of the leaf column. ORC and Avro: of the top-level column.

  /// Set by projection: is it read? A node with a selected child is selected. A file may read more
  /// than was asked and then marks that, too.
  bool selected = false;
};

/// Consecutive rows: the selected top-level columns in file order. Nested columns hold their
/// selected children only. Columns that were selected nowhere make no array.
struct SourceBatch {
  std::int64_t first_row = 0;  ///< position in the file
  std::int64_t rows = 0;
  std::vector<std::shared_ptr<arrow::Array>> columns;
  /// SourceOptions::only_with excludes these rows: there are no columns.
  bool skipped = false;
};

struct SourceOptions {
  std::int64_t batch_rows = 16 * 1024;
  /// A batch stays near this many bytes of decoded values, if the file tells how wide its rows are.
  std::int64_t batch_bytes = 16 << 20;
  /// Parquet: row groups that decode to at most this are decoded as a whole, one column at a time,
  /// so that of many columns only one has a page, a dictionary and a decompressor.
  std::int64_t by_column_bytes = 0;
  /// Parquet: row groups that can have none of these keys are not read. May be null.
  std::shared_ptr<const KeyFilter> only_with = {};
  /// INT96 timestamps come in nanoseconds, which reach from 1677 to 2262 only.
  bool int96_as_nanos = false;
};

/// Single-threaded.
class SourceFile {
 public:
  virtual ~SourceFile() = default;

  /// The file's columns; ids as the file has them until AssignFieldIds.
  std::vector<SourceField>& fields() { return fields_; }

  /// Ends the choice of columns. Called once, before Next. May widen the selection.
  virtual Status Select() = 0;

  /// Unset at the end. Errors do not name the file: callers do.
  virtual Result<std::optional<SourceBatch>> Next(RunContext& run) = 0;

 protected:
  std::vector<SourceField> fields_;
};

/// By the file_format of its manifest entry: names lie. Errors: kUnsupported (Puffin, encrypted
/// file), kCorrupt, those of io; all name the file.
Result<std::unique_ptr<SourceFile>> OpenSource(RunContext& run, FileIO& io, const DataFile& file,
                                               const SourceOptions& options,
                                               std::shared_ptr<arrow::MemoryPool> pool);

/// `size`: of the file.
Result<std::unique_ptr<SourceFile>> OpenParquetSource(std::unique_ptr<InputFile> file,
                                                      std::int64_t size,
                                                      const SourceOptions& options,
                                                      std::shared_ptr<arrow::MemoryPool> pool);
Result<std::unique_ptr<SourceFile>> OpenAvroSource(std::unique_ptr<InputFile> file,
                                                   const SourceOptions& options,
                                                   std::shared_ptr<arrow::MemoryPool> pool);
Result<std::unique_ptr<SourceFile>> OpenOrcSource(std::unique_ptr<InputFile> file,
                                                  const SourceOptions& options,
                                                  std::shared_ptr<arrow::MemoryPool> pool);

/// Gives ids to the columns of a file that has none at all: by the mapping if there is one; else
/// Parquet's columns by position, as Java does, others by the names of `schema`.
/// Errors: kUnsupported if a mapping knows no column of the file.
Status AssignFieldIds(std::vector<SourceField>& fields, FileFormat format,
                      const std::optional<NameMapping>& mapping, const Schema& schema);

/// Marks a node and everything below it.
void SelectAll(SourceField& field);

}  // namespace icewright
