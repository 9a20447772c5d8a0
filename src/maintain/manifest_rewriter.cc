#include "maintain/manifest_rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/executor.h"
#include "catalog/metadata_files.h"
#include "maintain/entry_sorter.h"
#include "manifest/encoded_entries.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "manifest/partition_codec.h"

namespace icewright {
namespace {

constexpr std::int64_t kMostBufferBytes = std::int64_t{192} << 20;
constexpr std::size_t kMostBlockBytes = 64 << 10;
constexpr std::size_t kLeastBlockBytes = 512;
constexpr std::size_t kBlocksPerThread = 16;

// Unset: the manifest has columns that would be lost.
using Encoded = std::optional<EntryBatch>;

Status CheckCount(const ManifestFile& manifest, std::int64_t live) {
  if (!manifest.added_files_count || !manifest.existing_files_count) return {};
  const std::int64_t listed =
      std::int64_t{*manifest.added_files_count} + *manifest.existing_files_count;
  if (listed == live) return {};
  return Error(Code::kCorrupt, fmt::format("manifest {} has {} live files, its list says {}",
                                           manifest.manifest_path.text(), live, listed));
}

Result<Encoded> EncodeManifest(FileIO& io, const TableMetadata& metadata,
                               const ManifestFile& manifest, const EntryEncoder& encoder) {
  IW_ASSIGN(ManifestReader reader, ManifestReader::Open(io, metadata, manifest));
  if (reader.has_unknown_fields()) return Encoded();
  EntryBatch batch;
  std::unordered_map<StructValue, std::uint32_t, StructValueHash, StructValueEqual> numbers;
  ManifestEntry entry;
  for (;;) {
    IW_ASSIGN(const bool more, reader.Next(entry));
    if (!more) break;
    const auto [at, is_new] =
        numbers.try_emplace(entry.file.partition, static_cast<std::uint32_t>(numbers.size()));
    if (is_new) batch.partitions.push_back(entry.file.partition);
    const std::size_t before = batch.records.size();
    IW_TRY(encoder.AppendExisting(entry, batch.records)
               .Within("manifest " + manifest.manifest_path.text()));
    batch.entries.push_back({.partition = at->second,
                             .size = static_cast<std::uint32_t>(batch.records.size() - before),
                             .rows = entry.file.record_count,
                             .sequence_number = *entry.sequence_number});
  }
  IW_TRY(CheckCount(manifest, std::ssize(batch.entries)));
  return Encoded(std::move(batch));
}

// Takes entries in order and makes manifests of them: blocks are compressed in parallel and written
// one after the other, so the files do not depend on the number of threads.
class BlockWriter {
 public:
  using Open = std::function<Result<ManifestWriter>()>;
  using PartitionOf = std::function<const StructValue&(std::uint32_t)>;

  BlockWriter(RunContext& run, const EntryEncoder& encoder, std::int64_t target_bytes, Open open)
      : run_(run),
        encoder_(encoder),
        target_bytes_(target_bytes),
        block_bytes_(std::clamp(static_cast<std::size_t>(target_bytes / 16), kLeastBlockBytes,
                                kMostBlockBytes)),
        open_(std::move(open)) {}

  // `partition` stays where it is until Close.
  Status Add(const EntryFacts& facts, const StructValue& partition, ByteView record) {
    if (blocks_.empty() || blocks_.back().records.size() >= block_bytes_) {
      if (blocks_.size() >= kBlocksPerThread * static_cast<std::size_t>(run_.threads())) {
        IW_TRY(WriteBlocks());
      }
      blocks_.emplace_back();
    }
    Block& block = blocks_.back();
    block.records.append(record);
    ++block.entry_block.count;
    std::vector<ExistingFiles>& files = block.entry_block.files;
    if (files.empty() || files.back().partition != &partition) {
      files.push_back({.partition = &partition, .min_sequence_number = facts.sequence_number});
    }
    ++files.back().files;
    files.back().rows += facts.rows;
    files.back().min_sequence_number =
        std::min(files.back().min_sequence_number, facts.sequence_number);
    return {};
  }

  Result<std::vector<ManifestFile>> Close() {
    IW_TRY(WriteBlocks());
    IW_TRY(CloseManifest());
    return std::move(manifests_);
  }

 private:
  struct Block {
    Bytes records;
    EntryBlock entry_block;
  };

  Status WriteBlocks() {
    IW_TRY(ParallelFor(run_, blocks_.size(), run_.threads(), [&](std::size_t i) -> Status {
      IW_ASSIGN(blocks_[i].entry_block.compressed, encoder_.CompressBlock(blocks_[i].records));
      return {};
    }));
    for (const Block& block : blocks_) {
      if (!writer_) {
        IW_ASSIGN(writer_, open_());
      }
      IW_TRY(writer_->AppendBlock(block.entry_block));
      if (writer_->estimated_bytes() >= target_bytes_) IW_TRY(CloseManifest());
    }
    blocks_.clear();
    return {};
  }

  Status CloseManifest() {
    if (!writer_) return {};
    IW_ASSIGN(manifests_.emplace_back(), writer_->Close());
    writer_.reset();
    return {};
  }

  RunContext& run_;
  const EntryEncoder& encoder_;
  const std::int64_t target_bytes_;
  const std::size_t block_bytes_;
  const Open open_;
  std::vector<Block> blocks_;
  std::optional<ManifestWriter> writer_;
  std::vector<ManifestFile> manifests_;
};

}  // namespace

Result<RewrittenManifests> ManifestRewriter::Rewrite(const ManifestPlan& plan,
                                                     const ManifestGroup& group,
                                                     const std::vector<ManifestFile>& manifests) {
  const ClusterOrder& order = plan.orders[group.order];
  const PartitionSpec& spec = *metadata_.FindSpec(order.spec_id);
  const ManifestWriteOptions options{
      .format_version = metadata_.format_version,
      .content = group.content,
      .compression_codec =
          StringProperty(metadata_.properties, "write.manifest.compression-codec", "gzip")};
  IW_ASSIGN(const EntryEncoder encoder,
            EntryEncoder::Make(order.spec_id, order.partition_type, options));
  const auto open = [&]() -> Result<ManifestWriter> {
    return ManifestWriter::Create(run_, io_, written_.NextManifest(MetadataFolderOf(metadata_)),
                                  PartitionSchemaOf(metadata_, spec), spec, options);
  };
  BlockWriter writer(run_, encoder, target_bytes_, open);
  const bool sorts = !spec.fields.empty();
  EntrySorter sorter(
      run_, [&](const StructValue& a, const StructValue& b) { return order.Compare(a, b); },
      std::min(kMostBufferBytes, run_.memory().available() / 2));
  const StructValue no_partition;
  RewrittenManifests result;
  const auto produce = [&](std::size_t i) -> Result<Encoded> {
    return EncodeManifest(io_, metadata_, manifests[group.manifests[i]], encoder);
  };
  const auto consume = [&](std::size_t i, Encoded&& batch) -> Status {
    run_.progress().Advance();
    if (!batch) {
      ++result.left_alone;
      return {};
    }
    ManifestFile& replaced = result.replaced.emplace_back(manifests[group.manifests[i]]);
    result.entries += std::ssize(batch->entries);
    // Lists are not always right about rows; what the manifest holds counts.
    replaced.added_rows_count = 0;
    replaced.existing_rows_count = 0;
    for (const EntryFacts& facts : batch->entries) *replaced.added_rows_count += facts.rows;
    if (sorts) return sorter.Add(*std::move(batch));
    std::size_t offset = 0;
    for (const EntryFacts& facts : batch->entries) {
      IW_TRY(writer.Add(facts, no_partition, ByteView(batch->records).substr(offset, facts.size)));
      offset += facts.size;
    }
    return {};
  };
  IW_TRY(OrderedParallel<Encoded>(run_, group.manifests.size(), run_.threads(), produce, consume));
  if (sorts) {
    IW_TRY(sorter.ForEach([&](const EntryFacts& facts, ByteView record) {
      return writer.Add(facts, sorter.partition(facts.partition), record);
    }));
  }
  IW_ASSIGN(result.added, writer.Close());
  return result;
}

}  // namespace icewright
