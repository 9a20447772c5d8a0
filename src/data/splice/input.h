#pragma once

/// \file data/splice/input.h
/// One input file: its footer, and how each column of the output comes out of it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/splice/layout.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright::splice {

/// How a column of an input becomes part of the output, planned from its footer alone. Execution
/// may have to choose a more expensive treatment of pages, never a cheaper guess.
struct ColumnPlan {
  enum class From : std::uint8_t {
    kChunks,    ///< the file's column chunks
    kNulls,     ///< the file does not have the column
    kConstant,  ///< the same: a default, or the value of its partition
    kRowId,     ///< first row id + position
    kDecoded,   ///< decoded and encoded again by the other engine's reader and writer
  };
  From from = From::kChunks;
  int leaf = -1;  ///< kChunks: of the file
  Conversion conversion = Conversion::kNone;
  Literal constant = {};  ///< kConstant
  Treatment expected = Treatment::kVerbatim;
  std::string reason = {};  ///< for people; empty for pages as they are
};

struct Input {
  const FileTask* task = nullptr;
  std::string name;
  std::int64_t size = 0;
  std::unique_ptr<const Bytes> footer;  ///< views of `meta` point into it
  FileMeta meta;
  std::vector<ColumnPlan> columns;  ///< by column of the layout
  bool decode_all = false;
  std::string decode_reason = {};
  /// Of each row group; empty: no row is deleted.
  std::vector<RowRanges> deleted = {};
  std::int64_t windows = 0;  ///< about as many pages as a column has; where rows are deleted
  double dirty_share = 0;    ///< of these, by deletes

  std::int64_t rows() const { return task->data_file.record_count; }
};

/// Reads the footer and plans the columns. A file that is no Parquet file, or has no field ids, is
/// decoded. Errors: kCorrupt (also if the manifest says another number of rows), those of io; all
/// name the file.
Result<Input> OpenInput(RunContext& run, FileIO& io, const TableMetadata& metadata,
                        const Layout& layout, const FileTask& task);

/// Decodes all leaves of top-level columns of which one must be decoded.
void DecodeWholeColumns(const Layout& layout, Input& input);

/// Decodes every column.
void DecodeAll(Input& input, std::string reason);

/// Bytes of a file's chunks that have rows, by the treatment its plan expects, with dictionaries
/// merged or not.
TreatmentBytes ExpectedBytes(const Input& input);

}  // namespace icewright::splice
