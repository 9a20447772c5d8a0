#pragma once

/// \file data/column_sketches.h
/// How many distinct values columns have, from the rows of data files.
///
/// Spec: Puffin, "apache-datasketches-theta-v1".   Java twin: Spark's NDVSketchUtil.

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "codec/theta_sketch.h"
#include "io/file_io.h"
#include "scan/file_task.h"
#include "table/metadata.h"

namespace icewright {

/// Sketches of chosen columns over the single-value bytes of their values; nulls do not count.
/// Single-threaded; works on run.threads() files at a time.
class ColumnSketches {
 public:
  /// `columns`: primitive fields of `schema` that are in no list or map. Takes the memory of all
  /// sketches from the run's budget; the run must outlive the object. Errors: kInvalidArgument,
  /// naming the column; kExhausted; those of MakeReadPlan.
  static Result<std::unique_ptr<ColumnSketches>> Make(RunContext& run, std::shared_ptr<FileIO> io,
                                                      std::shared_ptr<const TableMetadata> metadata,
                                                      const Schema& schema,
                                                      const std::vector<FieldId>& columns);
  virtual ~ColumnSketches() = default;

  /// Adds the live rows of files. Errors: those of BatchReader.
  virtual Status Add(RunContext& run, std::span<const FileTask> tasks) = 0;

  /// Of the columns, in their order.
  virtual const std::vector<ThetaSketch>& sketches() const = 0;

  virtual std::int64_t rows() const = 0;
};

}  // namespace icewright
