#pragma once

/// \file commit/commit_scope.h
/// What the steps that write manifests need to know of the attempt they work for.

#include <string>

#include "base/ids.h"
#include "base/location.h"
#include "base/run_context.h"
#include "commit/written_files.h"
#include "io/file_io.h"
#include "manifest/manifest_writer.h"
#include "table/metadata.h"

namespace icewright {

/// Borrows everything; one per attempt. Shared by worker threads.
struct CommitScope {
  RunContext& run;
  FileIO& io;
  const TableMetadata& metadata;
  SnapshotId snapshot_id{};
  WrittenFiles& written;

  /// A writer for the next manifest of this commit. Errors: kCorrupt for a spec that the metadata
  /// does not list; those of ManifestWriter::Create.
  Result<ManifestWriter> NewManifest(SpecId spec_id, ManifestContent content) const;
};

}  // namespace icewright
