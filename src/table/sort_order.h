#pragma once

/// \file table/sort_order.h
/// The order of rows inside files.
///
/// Spec: "Sorting".   Java twin: SortOrder.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/schema.h"
#include "table/transform.h"

namespace icewright {

struct SortField {
  enum class Direction : std::uint8_t { kAsc, kDesc };
  enum class Nulls : std::uint8_t { kFirst, kLast };

  std::vector<FieldId> source_ids;
  Transform transform;
  Direction direction = Direction::kAsc;
  Nulls nulls = Nulls::kFirst;

  FieldId source_id() const { return source_ids.front(); }
  friend bool operator==(const SortField&, const SortField&) = default;
};

struct SortOrder {
  SortOrderId id{0};  ///< 0: unsorted
  std::vector<SortField> fields;

  friend bool operator==(const SortOrder&, const SortOrder&) = default;

  static Result<SortOrder> FromJson(const Json& json);
  Json ToJson() const;

  /// "a asc nulls first, bucket(4, b) desc". Nulls default to first for asc, last for desc. The id
  /// of the result is 0. Errors: kInvalidArgument, naming the part that is wrong.
  static Result<SortOrder> Parse(const Schema& schema, std::string_view text);
};

}  // namespace icewright
