#include "data/deletion_vector_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/puffin.h"
#include "data/delete_cache.h"
#include "io/memory_file_io.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

PositionBitmap BitmapOf(const std::vector<std::int64_t>& positions) {
  PositionBitmap bitmap;
  for (const std::int64_t position : positions) bitmap.Add(position);
  return bitmap;
}

class DeletionVectorWriterTest : public ::testing::Test {
 protected:
  TableMetadata metadata_ = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  std::shared_ptr<FileIO> io_ = MakeMemoryFileIO();
  DeletionVectorWriter writer_{metadata_, io_, "op"};
};

TEST_F(DeletionVectorWriterTest, EntriesAndFooterAgree) {
  DataFile f = MakeDataFile("f.parquet", {.records = 100});
  f.spec_id = SpecId(4);
  f.partition = {Literal(std::string("a"))};
  const DataFile g = MakeDataFile("g.parquet", {.records = 100});
  ASSERT_THAT(writer_.Add(f, BitmapOf({1, 7, 99})), IsOk());
  ASSERT_THAT(writer_.Add(g, BitmapOf({0})), IsOk());
  const auto entries = writer_.Finish();
  ASSERT_THAT(entries, IsOk());
  ASSERT_THAT(*entries, SizeIs(2));

  const Location path((*entries)[0].file_path);
  EXPECT_EQ(path.text(), metadata_.location.text() + "/data/00000-0-op-00001.puffin");
  const auto bytes = ReadFile(*io_, path);
  ASSERT_THAT(bytes, IsOk());
  const auto size = static_cast<std::int64_t>(bytes->size());
  const auto footer_size = PuffinFooterSize(ByteView(*bytes).substr(bytes->size() - 12), size);
  ASSERT_THAT(footer_size, IsOk());
  const auto footer = ParsePuffinFooter(
      ByteView(*bytes).substr(bytes->size() - static_cast<std::size_t>(*footer_size)), size);
  ASSERT_THAT(footer, IsOk());
  ASSERT_THAT(footer->blobs, SizeIs(2));
  RunContext run;
  for (std::size_t i = 0; i < 2; ++i) {
    const DataFile& entry = (*entries)[i];
    const PuffinBlob& blob = footer->blobs[i];
    const DataFile& data = i == 0 ? f : g;
    EXPECT_EQ(entry.file_path, path);
    EXPECT_EQ(entry.file_size_in_bytes, size);
    EXPECT_EQ(entry.content_offset, blob.offset);
    EXPECT_EQ(entry.content_size_in_bytes, blob.length);
    EXPECT_EQ(entry.referenced_data_file, data.file_path);
    EXPECT_EQ(entry.spec_id, data.spec_id);
    EXPECT_EQ(entry.partition, data.partition);
    EXPECT_EQ(entry.record_count, i == 0 ? 3 : 1);
    EXPECT_EQ(blob.type, "deletion-vector-v1");
    EXPECT_THAT(blob.fields, ElementsAre(FieldId(2147483645)));
    EXPECT_EQ(Raw(blob.snapshot_id), -1);
    EXPECT_EQ(Raw(blob.sequence_number), -1);
    EXPECT_EQ(blob.compression_codec, std::nullopt);
    EXPECT_THAT(blob.properties, ElementsAre(Pair("cardinality", i == 0 ? "3" : "1"),
                                             Pair("referenced-data-file", data.file_path.text())));
    const auto back = ReadDeletionVector(run, *io_, entry);
    ASSERT_THAT(back, IsOk());
    std::vector<std::int64_t> positions;
    back->bitmap.ForEach([&](std::int64_t position) { positions.push_back(position); });
    EXPECT_EQ(positions,
              i == 0 ? (std::vector<std::int64_t>{1, 7, 99}) : std::vector<std::int64_t>{0});
  }
}

TEST_F(DeletionVectorWriterTest, WithoutVectorsThereIsNoFile) {
  EXPECT_THAT(writer_.Finish(), IsOkAndHolds(IsEmpty()));
  int files = 0;
  ASSERT_THAT(io_->List(metadata_.location,
                        [&](const FileStatus&) -> Status {
                          ++files;
                          return {};
                        }),
              IsOk());
  EXPECT_EQ(files, 0);
}

}  // namespace
}  // namespace icewright
