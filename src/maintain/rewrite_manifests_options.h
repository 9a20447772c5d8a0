#pragma once

/// \file maintain/rewrite_manifests_options.h
/// Options of manifest rewriting, and the rows that spell them for the command line and the docs.
///
/// Java twins: RewriteManifests, RewriteManifestsSparkAction.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fields.h"
#include "table/metadata.h"

namespace icewright {

/// Every member has a default, so {.spec_id = 1} is a whole configuration. Sizes are bytes.
struct RewriteManifestsOptions {
  /// Manifests of this partition spec only. Unset: of every spec.
  std::optional<int> spec_id = {};
  /// "day,bucket": names of partition fields; entries are ordered by these first. Empty: by the
  /// fields of the spec in their order.
  std::string sort_by = {};
  /// Size of a good manifest. Range: > 0. Unset: commit.manifest.target-size-bytes (8 MiB).
  std::optional<std::int64_t> target_size_bytes = {};
  /// Rewrite every manifest, whether something is gained or not.
  bool rewrite_all = false;
  std::string branch = "main";
  /// Report the plan; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<RewriteManifestsOptions>> RewriteManifestsFields();

/// What the planner works with: options checked against the table.
struct ManifestSettings {
  std::optional<SpecId> spec_id = {};
  std::vector<std::string> sort_by = {};
  std::int64_t target_bytes = 0;
  bool rewrite_all = false;
};

/// Errors: kInvalidArgument; the message names the option as the user spells it, the value and the
/// bound.
Result<ManifestSettings> ResolveRewriteManifestsOptions(const RewriteManifestsOptions& options,
                                                        const TableMetadata& metadata);

}  // namespace icewright
