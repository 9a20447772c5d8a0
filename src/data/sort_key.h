#pragma once

/// \file data/sort_key.h
/// Rows as byte strings that compare as the sort order wants.
///
/// Spec: "Sorting".   Java twins: SortOrderComparators, SortKey.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "table/schema.h"
#include "table/sort_order.h"

namespace icewright {

/// One key per row; `key(i)` views into `bytes`.
struct SortKeys {
  std::string bytes;
  std::vector<std::size_t> offsets;  ///< rows + 1

  std::string_view key(std::size_t row) const {
    return std::string_view(bytes).substr(offsets[row], offsets[row + 1] - offsets[row]);
  }
};

/// Immutable.
class SortKey {
 public:
  /// Errors: kUnsupported for an unknown transform, kInvalidArgument for a column that is not in
  /// the schema or inside a list or map.
  static Result<SortKey> Make(const Schema& schema, const std::vector<SortField>& fields);

  /// Floats: -0.0 before +0.0, NaN last of values.
  Result<SortKeys> Encode(const arrow::RecordBatch& batch) const;

 private:
  struct Part {
    SortField field;
    Type source;
    std::vector<int> path;
  };
  std::vector<Part> parts_;
};

}  // namespace icewright
