#pragma once

/// \file table/snapshot_json.h
/// JSON of snapshots, refs and statistics, shared by metadata files and REST messages.

#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/snapshot.h"

namespace icewright {

/// Errors of all: kCorrupt, naming the member.
Result<Snapshot> SnapshotFromJson(const Json& json);
Result<SnapshotRef> SnapshotRefFromJson(const Json& json);
Result<StatisticsFile> StatisticsFromJson(const Json& json);
Result<PartitionStatisticsFile> PartitionStatisticsFromJson(const Json& json);

Json ToJson(const Snapshot& snapshot);
Json ToJson(const SnapshotRef& ref);
Json ToJson(const StatisticsFile& statistics);
Json ToJson(const PartitionStatisticsFile& statistics);

}  // namespace icewright
