#pragma once

/// \file data/splice/decoded_input.h
/// Columns of an input that cannot be moved, decoded and encoded again: small Parquet files in
/// memory, made by the reader and the writer of the decoding engine. Their pages then move as all
/// others do.

#include <memory>
#include <vector>

#include "data/group_rewrite.h"
#include "data/splice/input.h"

namespace icewright::splice {

/// Rows of a row group of the input, or of as much as fits into one of the output.
struct DecodedPart {
  std::int64_t rows = 0;
  std::unique_ptr<const Bytes> file;  ///< with kSlack behind it; null without rows
  FileMeta meta;                      ///< views point into `file`
  DataFile metrics;
  std::vector<int> leaves;  ///< by column of the layout; -1: not in here
};

/// Decodes the columns that the input's plan says, without its deleted rows. If all columns are
/// decoded, parts end near `part_bytes`; else there is one for each row group. Errors: those of the
/// decoding path.
Result<std::vector<DecodedPart>> DecodeInput(RunContext& run, const GroupRewriteSetup& setup,
                                             const Layout& layout, const Input& input,
                                             std::int64_t part_bytes);

/// Positions of rows that the task's deletes drop, by row group; reads the deletes, and key columns
/// of equality deletes.
Result<std::vector<RowRanges>> DeletedRows(RunContext& run, const GroupRewriteSetup& setup,
                                           const Input& input);

}  // namespace icewright::splice
