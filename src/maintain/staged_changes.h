#pragma once

/// \file maintain/staged_changes.h
/// What a snapshot changed, read from the manifests it wrote: summaries are optional and may be
/// silent about it.

#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "maintain/convert_equality_deletes_options.h"
#include "manifest/data_file.h"
#include "table/metadata.h"

namespace icewright {

struct StagedChanges {
  std::vector<DataFile> data_files = {};  ///< With metrics.
  std::vector<DataFile> equality_deletes = {};
  std::vector<DataFile> vectors = {};

  bool empty() const { return data_files.empty() && equality_deletes.empty() && vectors.empty(); }
};

/// Errors: kUnsupported for what cannot be promoted: removed data files, position deletes that are
/// no deletion vectors, and those of CheckEqualityDelete; kCorrupt, those of io.
Result<StagedChanges> ReadStagedChanges(RunContext& run, FileIO& io, const TableMetadata& metadata,
                                        const Snapshot& snapshot, const std::vector<FieldId>& key);

/// May this equality delete be resolved by `key` (sorted)? Errors: kUnsupported: it has other
/// columns, or its spec is partitioned by a column outside the key.
Status CheckEqualityDelete(const TableMetadata& metadata, const DataFile& file,
                           const std::vector<FieldId>& key);

}  // namespace icewright
