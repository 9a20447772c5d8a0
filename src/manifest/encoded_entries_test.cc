#include "manifest/encoded_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "io/memory_file_io.h"
#include "manifest/manifest_reader.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

struct Case {
  int version;
  const char* codec;
};

class EncodedEntriesTest : public ::testing::TestWithParam<Case> {};

std::vector<ManifestEntry> MakeEntries(int version) {
  std::vector<ManifestEntry> entries;
  for (int i = 0; i < 10; ++i) {
    ManifestEntry entry{.status = i % 2 == 0 ? EntryStatus::kAdded : EntryStatus::kExisting,
                        .snapshot_id = SnapshotId{100 + i},
                        .sequence_number = SequenceNumber{version == 1 ? 0 : 20 - i},
                        .file_sequence_number = SequenceNumber{version == 1 ? 0 : 30},
                        .file = {}};
    entry.file = MakeDataFile("f" + std::to_string(i),
                              {.records = 10 + i, .partition = {std::int64_t{i / 4}}});
    entry.file.lower_bounds = {{FieldId{1}, Bytes(8, static_cast<char>(i))}};
    if (version == 3) entry.file.first_row_id = i * 100;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// A manifest made of blocks is the manifest that AddExisting would have made.
TEST_P(EncodedEntriesTest, BlocksEqualEntries) {
  const Case& c = GetParam();
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}),
                               {MakeSpec(0, {{1, "identity"}})}, c.version);
  const auto io = MakeMemoryFileIO();
  RunContext run;
  const ManifestWriteOptions options{.format_version = c.version, .compression_codec = c.codec};
  const auto entries = MakeEntries(c.version);
  const auto create = [&](const char* path) {
    return ManifestWriter::Create(run, *io, Location(path), table.schema(), table.default_spec(),
                                  options);
  };

  IW_ASSERT_OK_AND_ASSIGN(auto plain, create("memory:/plain.avro"));
  for (const ManifestEntry& entry : entries) ASSERT_THAT(plain.AddExisting(entry), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(ManifestFile expected, plain.Close());

  IW_ASSERT_OK_AND_ASSIGN(
      const auto encoder,
      EntryEncoder::Make(SpecId{0}, table.default_spec().PartitionType(table.schema()), options));
  IW_ASSERT_OK_AND_ASSIGN(auto blocks, create("memory:/blocks.avro"));
  for (std::size_t first = 0; first < entries.size(); first += 3) {
    EntryBlock block;
    Bytes records;
    for (std::size_t i = first; i < std::min(first + 3, entries.size()); ++i) {
      ASSERT_THAT(encoder.AppendExisting(entries[i], records), IsOk());
      ++block.count;
      block.files.push_back({.partition = &entries[i].file.partition,
                             .files = 1,
                             .rows = entries[i].file.record_count,
                             .min_sequence_number = *entries[i].sequence_number});
    }
    IW_ASSERT_OK_AND_ASSIGN(block.compressed, encoder.CompressBlock(records));
    ASSERT_THAT(blocks.AppendBlock(block), IsOk());
  }
  EXPECT_EQ(blocks.entries(), 10);
  IW_ASSERT_OK_AND_ASSIGN(ManifestFile made, blocks.Close());

  const auto read = [&](ManifestFile manifest) {
    manifest.sequence_number_pending = false;
    manifest.sequence_number = SequenceNumber{c.version == 1 ? 0 : 99};
    manifest.first_row_id = c.version == 3 ? std::optional<std::int64_t>(5000) : std::nullopt;
    auto all = ReadManifest(run, *io, table, manifest);
    EXPECT_THAT(all, IsOk());
    return all ? *std::move(all) : std::vector<ManifestEntry>();
  };
  EXPECT_EQ(read(made), read(expected));
  EXPECT_EQ(read(made).size(), 10U);
  made.manifest_path = expected.manifest_path;
  made.manifest_length = expected.manifest_length;
  EXPECT_EQ(made, expected);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EncodedEntriesTest,
                         ::testing::Values(Case{1, "gzip"}, Case{2, "gzip"}, Case{3, "gzip"},
                                           Case{2, "snappy"}, Case{3, "zstd"},
                                           Case{2, "uncompressed"}));

TEST(EncodedEntriesRefusalTest, WhatTheManifestMayNotHoldIsRefused) {
  const auto table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  const Type tuple = table.default_spec().PartitionType(table.schema());
  IW_ASSERT_OK_AND_ASSIGN(const auto encoder, EntryEncoder::Make(SpecId{0}, tuple, {}));
  Bytes out;
  ManifestEntry entry{.snapshot_id = SnapshotId{1},
                      .sequence_number = SequenceNumber{1},
                      .file = MakeDataFile("f")};
  EXPECT_THAT(encoder.AppendExisting(entry, out), IsOk());
  const std::size_t size = out.size();
  ManifestEntry bad = entry;
  bad.sequence_number.reset();
  EXPECT_THAT(encoder.AppendExisting(bad, out), HasCode(Code::kInvalidArgument));
  bad = entry;
  bad.file.spec_id = SpecId{3};
  EXPECT_THAT(encoder.AppendExisting(bad, out), HasCode(Code::kInvalidArgument));
  bad = entry;
  bad.file.content = FileContent::kEqualityDeletes;
  EXPECT_THAT(encoder.AppendExisting(bad, out), HasCode(Code::kInvalidArgument));
  EXPECT_EQ(out.size(), size);
  EXPECT_THAT(EntryEncoder::Make(SpecId{0}, tuple, {.format_version = 4}),
              HasCode(Code::kUnsupported));
  EXPECT_THAT(EntryEncoder::Make(SpecId{0}, tuple, {.compression_codec = "lzma"}),
              HasCode(Code::kUnsupported));
}

}  // namespace
}  // namespace icewright
