#pragma once

/// \file table/snapshot_summary.h
/// Names of the summary keys that Iceberg's readers and monitors expect.
///
/// Java twin: SnapshotSummary.

#include <string_view>

namespace icewright::summary {

inline constexpr std::string_view kAddedDataFiles = "added-data-files";
inline constexpr std::string_view kDeletedDataFiles = "deleted-data-files";
inline constexpr std::string_view kTotalDataFiles = "total-data-files";
inline constexpr std::string_view kAddedDeleteFiles = "added-delete-files";
inline constexpr std::string_view kRemovedDeleteFiles = "removed-delete-files";
inline constexpr std::string_view kTotalDeleteFiles = "total-delete-files";
inline constexpr std::string_view kAddedEqDeleteFiles = "added-equality-delete-files";
inline constexpr std::string_view kRemovedEqDeleteFiles = "removed-equality-delete-files";
inline constexpr std::string_view kAddedPosDeleteFiles = "added-position-delete-files";
inline constexpr std::string_view kRemovedPosDeleteFiles = "removed-position-delete-files";
inline constexpr std::string_view kAddedDvs = "added-dvs";
inline constexpr std::string_view kRemovedDvs = "removed-dvs";
inline constexpr std::string_view kAddedRecords = "added-records";
inline constexpr std::string_view kDeletedRecords = "deleted-records";
inline constexpr std::string_view kTotalRecords = "total-records";
inline constexpr std::string_view kAddedFilesSize = "added-files-size";
inline constexpr std::string_view kRemovedFilesSize = "removed-files-size";
inline constexpr std::string_view kTotalFilesSize = "total-files-size";
inline constexpr std::string_view kAddedPosDeletes = "added-position-deletes";
inline constexpr std::string_view kRemovedPosDeletes = "removed-position-deletes";
inline constexpr std::string_view kTotalPosDeletes = "total-position-deletes";
inline constexpr std::string_view kAddedEqDeletes = "added-equality-deletes";
inline constexpr std::string_view kRemovedEqDeletes = "removed-equality-deletes";
inline constexpr std::string_view kTotalEqDeletes = "total-equality-deletes";
inline constexpr std::string_view kDeletedDuplicateFiles = "deleted-duplicate-files";
inline constexpr std::string_view kChangedPartitionCount = "changed-partition-count";
inline constexpr std::string_view kPartitionSummariesIncluded = "partition-summaries-included";
inline constexpr std::string_view kManifestsCreated = "manifests-created";
inline constexpr std::string_view kManifestsKept = "manifests-kept";
inline constexpr std::string_view kManifestsReplaced = "manifests-replaced";
inline constexpr std::string_view kEntriesProcessed = "entries-processed";

}  // namespace icewright::summary
