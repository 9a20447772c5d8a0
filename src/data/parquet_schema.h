#pragma once

/// \file data/parquet_schema.h
/// An Iceberg schema as Parquet's, with field ids on every column.
///
/// Spec: "Appendix A: Parquet".   Java twin: TypeToMessageType.

#include <parquet/schema.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "table/schema.h"

namespace icewright {

/// What Java names a column in files: '_' for most characters that Avro forbids, as "_xHEX".
std::string FileColumnName(std::string_view name);

/// Bytes of the smallest fixed type that holds decimals of this precision (1 to 38).
int FixedDecimalSize(int precision);

/// Root "table". Lists have three levels (list, element), maps a key_value group; decimals are
/// int32 up to precision 9, int64 up to 18, else fixed; columns of unknown type are left out.
/// Errors: kUnsupported for variant, for a struct without columns and for an edge algorithm that
/// Parquet does not know.
Result<std::shared_ptr<parquet::schema::GroupNode>> ToParquetSchema(const Schema& schema);

/// A column chunk of the file: where its values are in a batch, and its levels.
struct ParquetLeaf {
  Field field;
  int top_level = 0;  ///< index of the column in the batch
  bool nested = false;
  std::string path;  ///< "a.list.element", as Parquet spells it
};

/// In the order of the file's columns.
std::vector<ParquetLeaf> ParquetLeaves(const Schema& schema);

}  // namespace icewright
