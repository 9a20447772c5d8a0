#pragma once

/// \file maintain/manifest_rewriter.h
/// Writes the live entries of a group of manifests into new ones, clustered by partition.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "commit/written_files.h"
#include "io/file_io.h"
#include "maintain/rewrite_manifests_plan.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

struct RewrittenManifests {
  std::vector<ManifestFile> replaced;
  std::vector<ManifestFile> added;
  std::int64_t entries = 0;
  std::int64_t left_alone = 0;  ///< They have columns that this build would lose.
};

/// Borrows everything. Single-threaded; works on run.threads() threads inside.
class ManifestRewriter {
 public:
  ManifestRewriter(RunContext& run, FileIO& io, const TableMetadata& metadata,
                   std::int64_t target_bytes, WrittenFiles& written)
      : run_(run), io_(io), metadata_(metadata), target_bytes_(target_bytes), written_(written) {}

  /// Each manifest is read once. Memory: a quarter gigabyte or half of what the run may take, in
  /// any case what a few manifests hold; the rest is sorted on the local disk. Errors: kCorrupt for
  /// a manifest whose list entry counts other files, those of reading and writing.
  Result<RewrittenManifests> Rewrite(const ManifestPlan& plan, const ManifestGroup& group,
                                     const std::vector<ManifestFile>& manifests);

 private:
  RunContext& run_;
  FileIO& io_;
  const TableMetadata& metadata_;
  const std::int64_t target_bytes_;
  WrittenFiles& written_;
};

}  // namespace icewright
