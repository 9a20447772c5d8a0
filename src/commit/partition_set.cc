#include "commit/partition_set.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "table/field.h"
#include "table/type.h"

namespace icewright {
namespace {

/// One field of a manifest's partition summary, its bounds decoded once for all partitions.
struct FieldRange {
  Type type;
  bool contains_null = true;
  std::optional<Literal> lower;
  std::optional<Literal> upper;

  bool MayHold(const Literal& value) const {
    if (IsNull(value)) return contains_null;
    // Zeros of two signs and NaN make ranges of floats a trap that is not worth entering.
    if (type.id() == TypeId::kFloat || type.id() == TypeId::kDouble) return true;
    if (lower && lower->index() == value.index() && Compare(type, value, *lower) < 0) return false;
    return !(upper && upper->index() == value.index() && Compare(type, value, *upper) > 0);
  }
};

std::optional<Literal> Decode(const Type& type, const std::optional<Bytes>& bound) {
  if (!bound) return std::nullopt;
  auto value = FromBytes(type, *bound);
  if (!value) return std::nullopt;
  return std::move(value).value();
}

std::vector<FieldRange> RangesOf(const Type& partition_type,
                                 const std::vector<PartitionFieldSummary>& summaries) {
  std::vector<FieldRange> ranges;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const Type& type = partition_type.fields()[i].type;
    const PartitionFieldSummary& summary = summaries[i];
    FieldRange range{
        .type = type, .contains_null = summary.contains_null, .lower = {}, .upper = {}};
    if (type.id() != TypeId::kUnknown) {
      range.lower = Decode(type, summary.lower_bound);
      range.upper = Decode(type, summary.upper_bound);
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace

bool PartitionSet::MayBeIn(const TableMetadata& metadata, const ManifestFile& manifest) const {
  const auto found = by_spec_.find(manifest.partition_spec_id);
  if (found == by_spec_.end()) return false;
  const PartitionSpec* spec = metadata.FindSpec(manifest.partition_spec_id);
  if (spec == nullptr || !manifest.partitions) return true;
  const Type partition_type = spec->PartitionType(metadata.schema());
  if (partition_type.fields().size() != manifest.partitions->size()) return true;
  const std::vector<FieldRange> ranges = RangesOf(partition_type, *manifest.partitions);
  return std::ranges::any_of(found->second, [&](const StructValue& partition) {
    if (partition.size() != ranges.size()) return true;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (!ranges[i].MayHold(partition[i])) return false;
    }
    return true;
  });
}

}  // namespace icewright
