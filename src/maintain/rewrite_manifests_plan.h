#pragma once

/// \file maintain/rewrite_manifests_plan.h
/// Which manifests a rewrite replaces, decided from the manifest list alone. Pure: no file, no
/// clock.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "maintain/rewrite_manifests_options.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"
#include "table/type.h"

namespace icewright {

/// The order of entries of one spec.
struct ClusterOrder {
  SpecId spec_id{};
  Type partition_type = Type::Struct({});  ///< In the schema that has the spec's source columns.
  std::vector<std::size_t> fields = {};    ///< Positions in the tuple, the most important first.
  bool readable = true;                    ///< False: a source column's type is not known any more.

  static ClusterOrder Of(const TableMetadata& metadata, const PartitionSpec& spec,
                         const std::vector<std::string>& sort_by);

  /// <0, 0, >0. Nulls first.
  std::strong_ordering Compare(const StructValue& a, const StructValue& b) const;
};

/// Neighbours in the order of their partitions, of one spec and one content.
struct ManifestGroup {
  std::size_t order = 0;  ///< Position in ManifestPlan::orders.
  ManifestContent content = ManifestContent::kData;
  std::vector<std::size_t> manifests = {};  ///< Positions in the list.
  std::int64_t bytes = 0;
  std::int64_t live_files = 0;  ///< As far as the list tells.
  std::int64_t expected_manifests = 0;
  /// Their ranges of partitions overlap, or all are rewritten on demand: a gain even if the number
  /// of manifests stays the same.
  bool reorders = false;
  bool splits = false;  ///< One is too big: a gain if more come out than went in.
};

struct ManifestPlan {
  std::vector<ClusterOrder> orders = {};
  std::vector<ManifestGroup> groups = {};
  std::int64_t kept = 0;           ///< Manifests that stay.
  std::int64_t unknown_specs = 0;  ///< Of the kept: their spec cannot be written any more.
};

/// A manifest needs work if it is small (below 3/4 of the target), too big (above 9/5), without
/// live files, or if its range of partitions overlaps another one's. Neighbours that need work
/// become a group; a group is kept if it would neither lower the number of manifests nor reorder or
/// split anything. So a plan for what an earlier run wrote is empty.
ManifestPlan PlanRewriteManifests(const std::vector<ManifestFile>& manifests,
                                  const TableMetadata& metadata, const ManifestSettings& settings);

}  // namespace icewright
