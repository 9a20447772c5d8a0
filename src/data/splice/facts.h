#pragma once

/// \file data/splice/facts.h
/// What the manifest says of a column: counts and bounds, from what inputs say of their chunks.

#include <cstdint>
#include <optional>

#include "data/metrics_config.h"
#include "data/splice/source.h"
#include "manifest/data_file.h"
#include "table/field.h"

namespace icewright::splice {

/// Of one column and file, or a part of it. Single-threaded.
class ColumnFacts {
 public:
  /// Adds what a source brought. Precondition: its chunk is written.
  void Add(const Field& field, const Source& source);
  void Add(const Field& field, const ColumnFacts& other);

  /// Sets the column's counts and bounds, as ColumnMetrics does; the caller sorts by field id.
  void Finish(const Field& field, const MetricsMode& mode, DataFile& file) const;

 private:
  void AddBounds(const Field& field, const Literal& lower, const std::optional<Literal>& upper);

  std::int64_t values_ = 0, nulls_ = 0, nans_ = 0;
  bool nulls_known_ = true, bounds_known_ = true;
  bool upper_lost_ = false;  // a decoded part has no upper bound
  std::optional<Literal> lower_, upper_;
};

/// A value of Parquet statistics, in the physical type that the table's schema has for the field;
/// unset if it is none.
std::optional<Literal> LiteralOf(const Field& field, const Leaf& leaf, ByteView value);

}  // namespace icewright::splice
