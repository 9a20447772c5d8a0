#include "maintain/rewrite_manifests_plan.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "manifest/partition_codec.h"
#include "table/literal.h"

namespace icewright {
namespace {

// Where a range of partition values ends: before all values (null), at one, after all (NaN).
struct Edge {
  enum class At : std::uint8_t { kNull, kValue, kEnd } at = At::kNull;
  Literal value = {};
};

struct Range {
  Edge lower;
  Edge upper;
};

// A manifest while its group is looked for.
struct Member {
  std::size_t manifest = 0;
  std::vector<Range> ranges;  // in cluster order
  std::int64_t bytes = 0;     // 0: no live file
  bool unfit = false;         // small, too big or dead
  bool too_big = false;
  bool overlaps = false;
};

bool IsZero(const Literal& value) {
  if (const auto* single = std::get_if<float>(&value)) return *single == 0;
  if (const auto* wide = std::get_if<double>(&value)) return *wide == 0;
  return false;
}

std::strong_ordering CompareEdges(const Type& type, const Edge& a, const Edge& b) {
  if (a.at != b.at) return a.at <=> b.at;
  if (a.at != Edge::At::kValue) return std::strong_ordering::equal;
  // Lists give a zero bound the sign that widens the range; that is no overlap.
  if (IsZero(a.value) && IsZero(b.value)) return std::strong_ordering::equal;
  return Compare(type, a.value, b.value);
}

// What the list does not tell reaches from one end to the other.
Range RangeOf(const Type& type, const PartitionFieldSummary* summary) {
  const Range everything{{Edge::At::kNull, {}}, {Edge::At::kEnd, {}}};
  if (summary == nullptr) return everything;
  Range range = everything;
  const auto parse = [&](const std::optional<Bytes>& bound, Edge& edge) {
    if (!bound) return false;
    auto value = FromBytes(type, *bound);
    if (!value) return false;
    edge = {Edge::At::kValue, std::move(*value)};
    return true;
  };
  const bool nan = summary->contains_nan.value_or(false);
  if (!summary->lower_bound && !summary->upper_bound) {
    if (summary->contains_null && !nan) range.upper.at = Edge::At::kNull;
    if (!summary->contains_null && nan) range.lower.at = Edge::At::kEnd;
    return range;
  }
  if (!parse(summary->lower_bound, range.lower) || !parse(summary->upper_bound, range.upper)) {
    return everything;
  }
  if (summary->contains_null) range.lower = {};
  if (nan) range.upper = {Edge::At::kEnd, {}};
  return range;
}

std::vector<Range> RangesOf(const ClusterOrder& order, const ManifestFile& manifest) {
  std::vector<Range> ranges;
  for (const std::size_t i : order.fields) {
    const bool known = manifest.partitions && i < manifest.partitions->size();
    ranges.push_back(RangeOf(order.partition_type.fields()[i].type,
                             known ? &(*manifest.partitions)[i] : nullptr));
  }
  return ranges;
}

// Sorts members by their ranges and marks those that overlap. Members that have one and the same
// value in a field are compared by the next one.
class Clustering {
 public:
  explicit Clustering(const ClusterOrder& order) : order_(order) {}

  void Arrange(std::span<Member> members, std::size_t field = 0) const {
    if (members.size() < 2) return;
    if (field == order_.fields.size()) {
      // All of one partition: small ones side by side, so that they become one.
      std::ranges::stable_sort(members, std::greater<>(), &Member::unfit);
      return;
    }
    const Type& type = order_.partition_type.fields()[order_.fields[field]].type;
    const auto before = [&](const Member& a, const Member& b) {
      const auto lower = CompareEdges(type, a.ranges[field].lower, b.ranges[field].lower);
      if (lower != 0) return lower < 0;
      return CompareEdges(type, a.ranges[field].upper, b.ranges[field].upper) < 0;
    };
    std::ranges::stable_sort(members, before);
    MarkOverlaps(type, members, field);
    for (std::size_t first = 0; first < members.size();) {
      std::size_t last = first + 1;
      while (last < members.size() && !before(members[first], members[last])) ++last;
      const Range& range = members[first].ranges[field];
      if (CompareEdges(type, range.lower, range.upper) == 0) {
        Arrange(members.subspan(first, last - first), field + 1);
      }
      first = last;
    }
  }

 private:
  // Precondition: sorted. Ranges that only touch do not overlap.
  static void MarkOverlaps(const Type& type, std::span<Member> members, std::size_t field) {
    std::size_t reaching = 0;  // whose upper edge is the greatest so far
    for (std::size_t i = 1; i < members.size(); ++i) {
      const Range& range = members[i].ranges[field];
      const Range& other = members[reaching].ranges[field];
      if (CompareEdges(type, range.lower, other.upper) < 0) {
        for (std::size_t j = reaching; j <= i; ++j) members[j].overlaps = true;
      }
      if (CompareEdges(type, range.upper, other.upper) > 0) reaching = i;
    }
  }

  const ClusterOrder& order_;
};

bool IsAlive(const ManifestFile& manifest) { return manifest.may_have_live(); }

Member MemberOf(const ClusterOrder& order, const ManifestFile& manifest, std::size_t position,
                std::int64_t target) {
  Member member{.manifest = position, .ranges = RangesOf(order, manifest)};
  const std::int64_t length = manifest.manifest_length;
  const std::int64_t files = std::int64_t{manifest.added_files_count.value_or(2)} +
                             manifest.existing_files_count.value_or(0);
  member.too_big = files > 1 && length / 9 > target / 5;
  member.unfit = !IsAlive(manifest) || length < target / 4 * 3 || member.too_big;
  member.bytes = IsAlive(manifest) ? length : 0;
  return member;
}

class Planner {
 public:
  Planner(const std::vector<ManifestFile>& manifests, const ManifestSettings& settings)
      : manifests_(manifests), settings_(settings) {}

  void Add(const ClusterOrder& order, std::size_t order_position, ManifestContent content,
           const std::vector<std::size_t>& positions, ManifestPlan& plan) const {
    std::vector<Member> members;
    for (const std::size_t i : positions) {
      members.push_back(MemberOf(order, manifests_[i], i, settings_.target_bytes));
    }
    // Dead manifests have no place in the order: they would only tear groups apart.
    const auto living = std::ranges::stable_partition(
        members, [&](const Member& member) { return !IsAlive(manifests_[member.manifest]); });
    Clustering(order).Arrange(std::span(living.begin(), members.end()));
    std::span<const Member> rest(members);
    while (!rest.empty()) {
      std::size_t size = 0;
      while (size < rest.size() && Needs(rest[size])) ++size;
      if (size == 0) {
        ++plan.kept;
        rest = rest.subspan(1);
        continue;
      }
      Close(rest.first(size), order_position, content, plan);
      rest = rest.subspan(size);
    }
  }

 private:
  bool Needs(const Member& member) const {
    return settings_.rewrite_all || member.unfit || member.overlaps;
  }

  void Close(std::span<const Member> members, std::size_t order_position, ManifestContent content,
             ManifestPlan& plan) const {
    ManifestGroup group{.order = order_position, .content = content};
    std::int64_t live_bytes = 0;
    group.reorders = settings_.rewrite_all;
    for (const Member& member : members) {
      const ManifestFile& manifest = manifests_[member.manifest];
      group.manifests.push_back(member.manifest);
      group.bytes += manifest.manifest_length;
      group.live_files += std::int64_t{manifest.added_files_count.value_or(0)} +
                          manifest.existing_files_count.value_or(0);
      group.reorders = group.reorders || member.overlaps;
      group.splits = group.splits || member.too_big;
      live_bytes += member.bytes;
    }
    group.expected_manifests =
        live_bytes / settings_.target_bytes + (live_bytes % settings_.target_bytes == 0 ? 0 : 1);
    if (!group.reorders && !group.splits &&
        std::ssize(group.manifests) <= group.expected_manifests) {
      plan.kept += std::ssize(group.manifests);
      return;
    }
    // In list order: the newest first, as commits place them.
    std::ranges::sort(group.manifests);
    plan.groups.push_back(std::move(group));
  }

  const std::vector<ManifestFile>& manifests_;
  const ManifestSettings& settings_;
};

}  // namespace

ClusterOrder ClusterOrder::Of(const TableMetadata& metadata, const PartitionSpec& spec,
                              const std::vector<std::string>& sort_by) {
  ClusterOrder order{.spec_id = spec.id,
                     .partition_type = spec.PartitionType(PartitionSchemaOf(metadata, spec))};
  for (const std::string& name : sort_by) {
    const auto found = std::ranges::find(spec.fields, name, &PartitionField::name);
    if (found != spec.fields.end()) {
      order.fields.push_back(static_cast<std::size_t>(found - spec.fields.begin()));
    }
  }
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (std::ranges::find(order.fields, i) == order.fields.end()) order.fields.push_back(i);
    if (order.partition_type.fields()[i].type.id() == TypeId::kUnknown) order.readable = false;
  }
  return order;
}

std::strong_ordering ClusterOrder::Compare(const StructValue& a, const StructValue& b) const {
  for (const std::size_t i : fields) {
    const auto compared = icewright::Compare(partition_type.fields()[i].type, a[i], b[i]);
    if (compared != 0) return compared;
  }
  return std::strong_ordering::equal;
}

ManifestPlan PlanRewriteManifests(const std::vector<ManifestFile>& manifests,
                                  const TableMetadata& metadata, const ManifestSettings& settings) {
  ManifestPlan plan;
  std::map<std::pair<SpecId, ManifestContent>, std::vector<std::size_t>> by_kind;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    by_kind[{manifests[i].partition_spec_id, manifests[i].content}].push_back(i);
  }
  const Planner planner(manifests, settings);
  for (const auto& [kind, positions] : by_kind) {
    const auto& [spec_id, content] = kind;
    const PartitionSpec* spec = metadata.FindSpec(spec_id);
    if (settings.spec_id && spec_id != *settings.spec_id) {
      plan.kept += std::ssize(positions);
      continue;
    }
    if (spec != nullptr && (plan.orders.empty() || plan.orders.back().spec_id != spec_id)) {
      plan.orders.push_back(ClusterOrder::Of(metadata, *spec, settings.sort_by));
    }
    if (spec == nullptr || !plan.orders.back().readable) {
      plan.kept += std::ssize(positions);
      plan.unknown_specs += std::ssize(positions);
      continue;
    }
    planner.Add(plan.orders.back(), plan.orders.size() - 1, content, positions, plan);
  }
  return plan;
}

}  // namespace icewright
