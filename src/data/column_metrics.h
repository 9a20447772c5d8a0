#pragma once

/// \file data/column_metrics.h
/// Counts and bounds of the columns of one data file, collected from the batches that are written
/// to it.
///
/// One pass over the values, the same for all formats: what Parquet keeps as statistics has no NaN
/// counts, loses long strings and does not tell -0.0 from +0.0.
///
/// Spec: "Manifests", data_file.   Java twins: ParquetMetrics, FieldMetrics.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "data/metrics_config.h"
#include "manifest/data_file.h"

namespace icewright {

/// Single-threaded.
class ColumnMetrics {
 public:
  /// Primitive columns that are not inside a list or map, and whose mode keeps counts, are
  /// collected.
  ColumnMetrics(const Schema& schema, const MetricsConfig& config);
  ~ColumnMetrics();
  ColumnMetrics(ColumnMetrics&&) noexcept;

  /// Precondition: the batch has the schema's Arrow schema; strings and binary may be dictionaries.
  Status Update(const arrow::RecordBatch& batch);

  /// Sets counts and bounds of `file`. Float bounds leave out NaN; -0.0 is less than +0.0.
  void Finish(DataFile& file) const;

 private:
  struct Column;
  std::vector<Column> columns_;
};

}  // namespace icewright
