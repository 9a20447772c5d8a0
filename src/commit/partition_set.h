#pragma once

/// \file commit/partition_set.h
/// Partitions by spec, and the question which manifests can hold files of them.
///
/// Java twins: PartitionSet, ManifestFileUtil.canContainAny.

#include <map>
#include <unordered_set>

#include "base/ids.h"
#include "manifest/manifest_file.h"
#include "table/literal.h"
#include "table/metadata.h"
#include "table/value.h"

namespace icewright {

/// Equal tuples of different specs are different partitions. Single-threaded while it is filled.
class PartitionSet {
 public:
  void Add(SpecId spec, const StructValue& partition) { by_spec_[spec].insert(partition); }
  bool empty() const { return by_spec_.empty(); }

  /// False only if the manifest's partition summaries rule out all partitions of this set.
  /// Summaries that are missing or unreadable rule out nothing. Cost: partitions of the spec times
  /// fields.
  bool MayBeIn(const TableMetadata& metadata, const ManifestFile& manifest) const;

 private:
  std::map<SpecId, std::unordered_set<StructValue, StructValueHash, StructValueEqual>> by_spec_;
};

}  // namespace icewright
