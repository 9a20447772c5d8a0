#include "data/metrics_config.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/text.h"

namespace icewright {
namespace {

constexpr std::string_view kDefaultKey = "write.metadata.metrics.default";
constexpr std::string_view kColumnPrefix = "write.metadata.metrics.column.";
constexpr std::string_view kInferredKey = "write.metadata.metrics.max-inferred-column-defaults";
constexpr MetricsMode kNoMetrics{MetricsMode::Kind::kNone, 0};

std::size_t CountPrimitives(const std::vector<Field>& fields) {
  std::size_t count = 0;
  for (const Field& field : fields) {
    count += field.type.is_nested() ? CountPrimitives(field.type.fields()) : 1;
  }
  return count;
}

// The first `limit` primitive columns: those of a struct before those of its nested fields.
void CollectFirst(const std::vector<Field>& fields, std::size_t limit, std::vector<FieldId>& out) {
  for (const Field& field : fields) {
    if (out.size() >= limit) return;
    if (!field.type.is_nested()) out.push_back(field.id);
  }
  for (const Field& field : fields) {
    if (out.size() >= limit) return;
    if (field.type.is_nested()) CollectFirst(field.type.fields(), limit, out);
  }
}

}  // namespace

std::optional<MetricsMode> ParseMetricsMode(std::string_view text) {
  const std::string lower = ToLower(text);
  using enum MetricsMode::Kind;
  if (lower == "none") return kNoMetrics;
  if (lower == "counts") return MetricsMode{kCounts, 0};
  if (lower == "full") return MetricsMode{kFull, 0};
  constexpr std::string_view kPrefix = "truncate(";
  if (!lower.starts_with(kPrefix) || !lower.ends_with(')')) return {};
  const char* first = lower.data() + kPrefix.size();
  const char* last = lower.data() + lower.size() - 1;
  int length = 0;
  const auto [end, error] = std::from_chars(first, last, length);
  if (error != std::errc() || end != last || length <= 0) return {};
  return MetricsMode{kTruncate, length};
}

Result<MetricsConfig> MetricsConfig::Make(const Properties& properties, const Schema& schema,
                                          const SortOrder& order) {
  MetricsConfig config;
  const auto given = properties.find(std::string(kDefaultKey));
  if (given != properties.end()) {
    config.default_ = ParseMetricsMode(given->second).value_or(MetricsMode{});
  } else {
    IW_ASSIGN(const std::int64_t limit, IntProperty(properties, kInferredKey, 100));
    if (static_cast<std::int64_t>(CountPrimitives(schema.fields())) > limit) {
      std::vector<FieldId> first;
      CollectFirst(schema.fields(), static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)),
                   first);
      for (const FieldId id : first) config.by_field_[id] = MetricsMode{};
      config.default_ = kNoMetrics;
    }
  }
  for (const SortField& field : order.fields) {
    if (!field.transform.preserves_order()) continue;
    config.by_field_[field.source_id()] =
        config.default_.bounds() ? config.default_ : MetricsMode{};
  }
  for (auto it = properties.lower_bound(std::string(kColumnPrefix));
       it != properties.end() && it->first.starts_with(kColumnPrefix); ++it) {
    const Field* field = schema.Find(std::string_view(it->first).substr(kColumnPrefix.size()));
    if (field == nullptr) continue;
    config.by_field_[field->id] = ParseMetricsMode(it->second).value_or(config.default_);
  }
  return config;
}

MetricsMode MetricsConfig::ModeOf(FieldId field) const {
  const auto it = by_field_.find(field);
  return it == by_field_.end() ? default_ : it->second;
}

}  // namespace icewright
