#pragma once

/// \file manifest/manifest_reader.h
/// Streams the entries of one manifest, with inheritance applied.
///
/// Spec: "Manifests", "Sequence Number Inheritance", "First Row ID Inheritance".
/// Java twin: ManifestReader.

#include <memory>

#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

struct ManifestReadOptions {
  /// Counts, bounds, sizes, split offsets. Without them a manifest reads several times faster.
  bool metrics = true;
  /// Leave out DELETED entries. First row ids are right either way.
  bool live_only = true;
};

/// Errors name the manifest: kCorrupt, kUnsupported, kNotFound, those of io. Single-threaded.
class ManifestReader {
 public:
  /// Cost: reads the header. The partition type comes from the metadata's spec, or from the
  /// manifest's own header if the metadata has no such spec.
  static Result<ManifestReader> Open(FileIO& io, const TableMetadata& metadata,
                                     const ManifestFile& manifest,
                                     ManifestReadOptions options = {});

  ManifestReader(ManifestReader&&) noexcept;
  ManifestReader& operator=(ManifestReader&&) noexcept;
  ~ManifestReader();

  /// The next entry into `entry`, whose memory is reused. False at the end.
  Result<bool> Next(ManifestEntry& entry);

  /// True if the writer stored data_file columns that this build does not know: such a manifest
  /// must not be rewritten, or they would be lost.
  bool has_unknown_fields() const;

  /// What the file's header says; for manifests whose list entry is missing (v1).
  SpecId spec_id() const;
  ManifestContent content() const;
  int format_version() const;

  /// The struct of the entries' partition tuples.
  const Type& partition_type() const;

 private:
  struct Rep;
  explicit ManifestReader(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

/// All entries at once: for small manifests and tests.
Result<std::vector<ManifestEntry>> ReadManifest(RunContext& run, FileIO& io,
                                                const TableMetadata& metadata,
                                                const ManifestFile& manifest,
                                                ManifestReadOptions options = {});

}  // namespace icewright
