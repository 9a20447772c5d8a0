#pragma once

/// \file data/splice/statistics.h
/// Statistics of column chunks, merged. What one part does not know, the whole does not know.

#include <optional>
#include <string>
#include <vector>

#include "data/splice/format.h"
#include "data/splice/thrift.h"
#include "data/splice/values.h"

namespace icewright::splice {

/// Statistics with bytes of their own, in the type of the output.
struct OwnedStatistics {
  std::optional<std::int64_t> null_count = {};
  std::optional<Bytes> min = {}, max = {};
  bool min_exact = false, max_exact = false, exact_known = false;
};

/// Statistics of a leaf of a file after conversion. Bounds that are no bounds (NaN, a wrong length,
/// an order that is not the type's) are left out.
OwnedStatistics ConvertStatistics(const Statistics& in, const Leaf& from, const Leaf& to,
                                  Conversion conversion, bool type_defined_order);

class StatisticsMerger {
 public:
  explicit StatisticsMerger(Order order = Order::kUndefined)
      : order_(order), bounds_known_(order != Order::kUndefined) {}

  void Add(const OwnedStatistics& part, std::int64_t values);

  /// As a field of a struct; nothing if nothing is known.
  void Write(ThriftWriter& w, int id) const;
  bool has_bounds() const { return bounds_known_ && min_.has_value(); }
  void Drop() { bounds_known_ = nulls_known_ = false; }

 private:
  Order order_;
  bool bounds_known_, nulls_known_ = true, exact_known_ = true;
  bool min_exact_ = true, max_exact_ = true;
  std::int64_t nulls_ = 0;
  std::optional<Bytes> min_, max_;
};

class SizesMerger {
 public:
  void Add(const SizeStatistics& part);
  void Drop() { known_ = false; }
  void Write(ThriftWriter& w, int id) const;

 private:
  bool known_ = true, first_ = true;
  SizeStatistics sum_;
};

}  // namespace icewright::splice
