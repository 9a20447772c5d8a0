#pragma once

/// \file data/metrics_config.h
/// Which metrics a data file keeps of each column: write.metadata.metrics.*.
///
/// Java twins: MetricsConfig, MetricsModes.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "table/metadata.h"

namespace icewright {

struct MetricsMode {
  enum class Kind : std::uint8_t { kNone, kCounts, kTruncate, kFull };
  Kind kind = Kind::kTruncate;
  int length = 16;  ///< kTruncate: characters of a string, bytes of binary; >= 1

  bool counts() const { return kind != Kind::kNone; }
  bool bounds() const { return kind == Kind::kTruncate || kind == Kind::kFull; }
  /// Longest bound.
  int limit() const { return kind == Kind::kFull ? std::numeric_limits<int>::max() : length; }

  friend bool operator==(const MetricsMode&, const MetricsMode&) = default;
};

/// "none", "counts", "truncate(16)", "full", in any case; unset for another text.
std::optional<MetricsMode> ParseMetricsMode(std::string_view text);

/// Mode of each primitive column, by field id. Immutable.
class MetricsConfig {
 public:
  MetricsConfig() = default;

  /// Without a default in the properties, only the first
  /// write.metadata.metrics.max-inferred-column- defaults columns get truncate(16), the rest none.
  /// Columns of the sort order get at least truncate(16). Text that does not parse falls back, as
  /// in Java. Errors: kInvalidArgument for a number property that is none.
  static Result<MetricsConfig> Make(const Properties& properties, const Schema& schema,
                                    const SortOrder& order);

  MetricsMode ModeOf(FieldId field) const;

 private:
  MetricsMode default_;
  std::unordered_map<FieldId, MetricsMode> by_field_;
};

}  // namespace icewright
