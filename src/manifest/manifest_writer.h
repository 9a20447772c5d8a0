#pragma once

/// \file manifest/manifest_writer.h
/// Writes one manifest.
///
/// Spec: "Manifests".   Java twins: ManifestWriter, V1Writer, V2Writer, V3Writer.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "manifest/manifest_file.h"
#include "table/metadata.h"

namespace icewright {

struct ManifestWriteOptions {
  int format_version = 2;
  ManifestContent content = ManifestContent::kData;
  SnapshotId snapshot_id{};                ///< Of the commit that writes the manifest.
  std::string compression_codec = "gzip";  ///< write.manifest.compression-codec
};

/// Existing files of one partition, as lists count them.
struct ExistingFiles {
  const StructValue* partition = nullptr;  ///< Borrowed.
  std::int32_t files = 0;
  std::int64_t rows = 0;
  SequenceNumber min_sequence_number{0};
};

/// A compressed block of records that an EntryEncoder of the same kind made.
struct EntryBlock {
  std::int64_t count = 0;
  Bytes compressed;
  std::vector<ExistingFiles> files;  ///< What is in it.
};

/// All entries share one spec and one content type. Single-threaded.
class ManifestWriter {
 public:
  /// Writes the header. `spec` and `schema`: what the entries' partitions belong to.
  /// Errors: kUnsupported for a delete manifest in v1; those of io.
  static Result<ManifestWriter> Create(RunContext& run, FileIO& io, const Location& location,
                                       const Schema& schema, const PartitionSpec& spec,
                                       ManifestWriteOptions options);

  ManifestWriter(ManifestWriter&&) noexcept;
  ManifestWriter& operator=(ManifestWriter&&) noexcept;
  ~ManifestWriter();

  /// ADDED: snapshot id of this commit; a data sequence number only if given (compaction); file
  /// sequence number and first row id are never written.
  Status AddAdded(const DataFile& file, std::optional<SequenceNumber> data_sequence_number = {});
  /// EXISTING, everything explicit. Precondition: the entry came from a reader.
  Status AddExisting(const ManifestEntry& entry);
  /// DELETED by this commit, everything explicit.
  Status AddDeleted(const ManifestEntry& entry);

  /// Precondition: the encoder had this writer's spec, schema and options.
  Status AppendBlock(const EntryBlock& block);

  std::int64_t entries() const;
  /// Length so far, for rolling.
  std::int64_t estimated_bytes() const;

  /// Finishes the file and describes it. Sequence numbers are pending.
  Result<ManifestFile> Close();

 private:
  struct Rep;
  explicit ManifestWriter(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
