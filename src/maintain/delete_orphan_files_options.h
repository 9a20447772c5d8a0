#pragma once

/// \file maintain/delete_orphan_files_options.h
/// Options of orphan clean-up, and the rows that spell them for the command line and the docs.
///
/// Java twins: Flink's DeleteOrphanFiles.Builder, Spark's DeleteOrphanFilesSparkAction.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/location.h"
#include "base/result.h"
#include "config/fields.h"
#include "maintain/file_matching.h"
#include "table/metadata.h"

namespace icewright {

/// Every member has a default, so {.dry_run = true} is a whole configuration. Times are ms.
struct DeleteOrphanFilesOptions {
  /// The folder to search. Empty: the table's location.
  std::string location = {};
  /// A file that changed later than this long ago is no candidate: writers make files before they
  /// commit them. Range: >= 24 h, with force_min_age >= 0.
  std::int64_t min_age = std::int64_t{3} * 24 * 3600 * 1000;
  /// Allow a min_age below 24 h.
  bool force_min_age = false;
  /// List everything below the location at once. False: folder by folder, without looking into
  /// hidden ones.
  bool use_prefix_listing = true;
  /// "s3a,s3n=s3": schemes that count as one. s3a and s3n count as s3 unless this says otherwise.
  std::string equal_schemes = {};
  /// "old-host,alias=host": authorities that count as one.
  std::string equal_authorities = {};
  /// What to do about a file that the table names with another scheme or authority only.
  std::string prefix_mismatch_mode = "ERROR";
  /// A file with a line for each file to look at, instead of a listing.
  std::string compare_to_file_list = {};
  /// Move orphans there instead of deleting them. Empty: delete.
  std::string quarantine = {};
  /// Files per delete request. Range: > 0.
  int delete_batch_size = 1000;
  /// Delete requests at the same time. Range: > 0. Unset: threads.
  std::optional<int> delete_parallelism = {};
  /// Manifests read at the same time. Range: > 0. Unset: threads.
  std::optional<int> planning_parallelism = {};
  /// Say for each candidate why it is an orphan.
  bool explain = false;
  /// Report what would go; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<DeleteOrphanFilesOptions>> DeleteOrphanFilesFields();

/// What the task works with: options checked, with the table's defaults filled in.
struct OrphanSettings {
  Location location;  ///< Without a trailing slash.
  Milliseconds min_age{0};
  PrefixMismatchMode mode = PrefixMismatchMode::kError;
  PrefixRules rules;
  std::optional<Location> quarantine = {};  ///< Without a trailing slash.
};

/// Errors: kInvalidArgument; the message names the option as the user spells it, the value and the
/// bound.
Result<OrphanSettings> ResolveOrphanOptions(const DeleteOrphanFilesOptions& options,
                                            const TableMetadata& metadata);

}  // namespace icewright
