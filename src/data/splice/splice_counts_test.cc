// v2 page headers whose counts are wrong: real writers made such files, and readers go by the
// levels.

#include <functional>

#include "data/splice/format.h"
#include "data/splice/hybrid.h"
#include "data/splice/splice_test_table.h"

namespace icewright {
namespace {

using splice::PageHeader;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Positions of pages, with their headers.
struct FoundPage {
  std::size_t column = 0, at = 0, header_bytes = 0;
  PageHeader header;
};

/// A Parquet file with the bytes behind it that the parsers want.
class PatchedFile {
 public:
  explicit PatchedFile(Bytes bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {
    bytes_.append(splice::kSlack, '\0');
  }

  Bytes bytes() const { return bytes_.substr(0, size_); }
  ByteView view() const { return ByteView(bytes_).substr(0, size_); }
  splice::FileMeta Meta() const {
    const std::size_t length = LoadLittle<std::uint32_t>(bytes_.data() + size_ - 8);
    return splice::ParseFooter(view().substr(size_ - 8 - length, length)).value();
  }

  std::vector<FoundPage> DataPages() const {
    std::vector<FoundPage> pages;
    const splice::FileMeta meta = Meta();
    for (const splice::RowGroup& group : meta.groups) {
      for (std::size_t c = 0; c < group.columns.size(); ++c) {
        auto at = static_cast<std::size_t>(group.columns[c].range().offset);
        const auto end = at + static_cast<std::size_t>(group.columns[c].compressed);
        while (at < end) {
          FoundPage page{.column = c, .at = at, .header = {}};
          page.header_bytes =
              splice::ParsePageHeader(view().substr(at, end - at), page.header).value();
          at += page.header_bytes + static_cast<std::size_t>(page.header.compressed);
          if (page.header.type == splice::PageType::kDataV2) pages.push_back(page);
        }
      }
    }
    return pages;
  }

  /// Writes another number in the place of one of the header's, of the same length.
  void Set(const FoundPage& page, std::int32_t PageHeader::*count, std::int32_t to) {
    const Bytes old_number = Varint(page.header.*count);
    const Bytes new_number = Varint(to);
    ASSERT_EQ(old_number.size(), new_number.size());
    const std::size_t last = page.at + page.header_bytes - old_number.size();
    for (std::size_t at = page.at; at <= last; ++at) {
      if (ByteView(bytes_).substr(at, old_number.size()) != old_number) continue;
      bytes_.replace(at, new_number.size(), new_number);
      PageHeader patched;
      const auto length = splice::ParsePageHeader(view().substr(page.at), patched);
      if (length && *length == page.header_bytes && patched.*count == to) {
        patched.*count = page.header.*count;
        if (Written(patched) == Written(page.header)) return;
      }
      bytes_.replace(at, old_number.size(), old_number);
    }
    FAIL() << "the header has no such count";
  }

  /// Another first row for a page of an offset index, of the same length.
  void SetFirstRow(std::size_t column, std::size_t page, std::int32_t to) {
    const splice::FileRange range = Meta().groups.at(0).columns.at(column).offset_index;
    const auto start = static_cast<std::size_t>(range.offset);
    const auto size = static_cast<std::size_t>(range.size);
    const auto rows_of = [&] {
      std::vector<std::int64_t> rows;
      const auto index = splice::ParseOffsetIndex(view().substr(start, size));
      if (!index) return rows;
      for (const splice::PageLocation& at : index->pages) rows.push_back(at.first_row);
      return rows;
    };
    std::vector<std::int64_t> wanted = rows_of();
    const Bytes old_number = Varint(static_cast<std::int32_t>(wanted.at(page)));
    const Bytes new_number = Varint(to);
    ASSERT_EQ(old_number.size(), new_number.size());
    wanted[page] = to;
    for (std::size_t at = start; at + old_number.size() <= start + size; ++at) {
      if (ByteView(bytes_).substr(at, old_number.size()) != old_number) continue;
      bytes_.replace(at, new_number.size(), new_number);
      if (rows_of() == wanted) return;
      bytes_.replace(at, old_number.size(), old_number);
    }
    FAIL() << "the index has no such row";
  }

  /// What the levels of a page say: its header must agree.
  void ExpectRightCounts(const FoundPage& page) const {
    const splice::FileMeta meta = Meta();
    const splice::Leaf& leaf = meta.leaves[page.column];
    const auto values = static_cast<std::uint32_t>(page.header.values);
    const std::size_t at = page.at + page.header_bytes;
    const auto repetition = static_cast<std::size_t>(page.header.repetition_bytes);
    const auto definition = static_cast<std::size_t>(page.header.definition_bytes);
    EXPECT_EQ(page.header.rows, CountLevels(at, repetition, leaf.max_repetition, values, 0));
    const auto max = static_cast<std::uint32_t>(leaf.max_definition);
    EXPECT_EQ(page.header.values - page.header.nulls,
              CountLevels(at + repetition, definition, leaf.max_definition, values, max));
  }

 private:
  static Bytes Varint(std::int32_t value) {
    auto rest = static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31);
    Bytes out;
    for (; rest >= 128; rest >>= 7) out.push_back(static_cast<char>(rest | 128));
    out.push_back(static_cast<char>(rest));
    return out;
  }
  static Bytes Written(const PageHeader& header) {
    Bytes out;
    WritePageHeader(out, header);
    return out;
  }
  std::int64_t CountLevels(std::size_t at, std::size_t size, int max, std::uint32_t values,
                           std::uint32_t wanted) const {
    if (max == 0) return values;
    std::vector<std::uint32_t> levels(values);
    EXPECT_TRUE(splice::DecodeHybrid(view().substr(at, size),
                                     splice::BitsFor(static_cast<std::uint32_t>(max)), values,
                                     levels.data()));
    return std::count(levels.begin(), levels.end(), wanted);
  }

  Bytes bytes_;
  std::size_t size_;
};

Schema IdTextAndTags() {
  return Schema(
      {MakeField(1, "id", Type::Of(TypeId::kLong)), MakeField(2, "s", Type::Of(TypeId::kString)),
       MakeField(3, "tags", Type::List(MakeField(4, "e", Type::Of(TypeId::kLong))))},
      SchemaId{0});
}

// Nulls and lists of all kinds; the last value of the texts is not null.
std::string MixedRows(int count) {
  std::string json;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    json += (i == 0 ? "[[" : ",[") + n;
    json += i % 7 == 3 ? ",null," : ",\"text " + std::to_string(i * 31 % 50) + "\",";
    constexpr const char* kTags[] = {"[1,null,3]", "[]", "null", "[null]"};
    json += i % 10 < 4 ? kTags[i % 10] : "[" + n + "," + n + "]";
    json += "]";
  }
  return json + "]";
}

struct CountsCase {
  const char* name;
  // Of a header; the count of that name is set.
  std::function<std::int32_t(const PageHeader&)> nulls, rows;
};

class SpliceCountsTest : public ::testing::TestWithParam<CountsCase> {
 protected:
  static constexpr int kRows = 300;

  /// A file whose page headers are wrong as the case says.
  static FileTask WrongFile(SpliceTable& table, const std::string& name, bool dictionary) {
    parquet::WriterProperties::Builder builder;
    builder.data_page_version(parquet::ParquetDataPageVersion::V2)
        ->write_batch_size(150)
        ->data_pagesize(1)
        ->enable_page_checksum();
    if (!dictionary) builder.disable_dictionary();
    FileTask task =
        table.ArrowFile(name, RowsOf(IdTextAndTags(), MixedRows(kRows)), builder.build());
    auto bytes = ReadFile(*table.io(), task.data_file.file_path);
    EXPECT_THAT(bytes, IsOk());
    PatchedFile file(std::move(*bytes));
    for (const FoundPage& page : file.DataPages()) {
      const CountsCase& c = GetParam();
      // One after the other: the second search needs the header as it is by then.
      FoundPage now = page;
      if (c.nulls && page.header.nulls > 0) {
        file.Set(now, &PageHeader::nulls, c.nulls(page.header));
        now.header.nulls = c.nulls(page.header);
      }
      // A small page's number would become longer.
      if (c.rows && page.header.rows >= 64) file.Set(now, &PageHeader::rows, c.rows(page.header));
    }
    EXPECT_THAT(
        WriteFile(*table.io(), task.data_file.file_path, file.bytes(), CreateMode::kAtomicReplace),
        IsOk());
    return task;
  }

  static void ExpectSplicedAsDecoded(SpliceTable& table, const std::vector<FileTask>& tasks) {
    IW_ASSERT_OK_AND_ASSIGN(const auto spliced, table.Splice(RequestOf(tasks)));
    EXPECT_THAT(spliced.notes, IsEmpty()) << "nothing has to be decoded";
    table.SetOperation("decoded-" + std::to_string(table.FileNames().size()));
    IW_ASSERT_OK_AND_ASSIGN(const auto decoded, table.Rewrite(RequestOf(tasks)));
    EXPECT_EQ(table.Rows(spliced.added), table.Rows(decoded.added));
    ASSERT_THAT(spliced.added, SizeIs(1));
    EXPECT_EQ(spliced.added[0].null_value_counts, decoded.added[0].null_value_counts);
    IW_ASSERT_OK_AND_ASSIGN(Bytes bytes, ReadFile(*table.io(), spliced.added[0].file_path));
    const PatchedFile out(std::move(bytes));
    for (const FoundPage& page : out.DataPages()) out.ExpectRightCounts(page);
  }
};

TEST_P(SpliceCountsTest, TheLevelsCount) {
  for (const bool dictionary : {false, true}) {
    for (const char* codec : {"uncompressed", "zstd"}) {
      SCOPED_TRACE(std::string(codec) + (dictionary ? ", dictionary" : ""));
      SpliceTable table(IdTextAndTags(), {{"write.parquet.compression-codec", codec}});
      FileTask one = WrongFile(table, "one", dictionary);
      const FileTask two = WrongFile(table, "two", dictionary);
      ExpectSplicedAsDecoded(table, {one});
      ExpectSplicedAsDecoded(table, {one, two});
      std::vector<int> positions = {0, 3, 99, 100};
      for (int i = 150; i < 170; ++i) positions.push_back(i);
      positions.push_back(kRows - 1);
      one.deletes = {table.DeletePositions("d", one.data_file, positions)};
      ExpectSplicedAsDecoded(table, {one, two});
    }
  }
}

// Rows are deleted by the levels; an offset index that is wrong does not move them.
TEST(SpliceOffsetIndexTest, DeletedRowsAreCountedInTheLevels) {
  SpliceTable table(IdTextAndTags(), {{"write.parquet.compression-codec", "zstd"}});
  const auto properties = parquet::WriterProperties::Builder()
                              .write_batch_size(150)
                              ->data_pagesize(1)
                              ->disable_dictionary()
                              ->enable_write_page_index()
                              ->build();
  FileTask task = table.ArrowFile("a", RowsOf(IdTextAndTags(), MixedRows(300)), properties);
  IW_ASSERT_OK_AND_ASSIGN(Bytes bytes, ReadFile(*table.io(), task.data_file.file_path));
  PatchedFile file(std::move(bytes));
  constexpr std::size_t kTags = 2;
  const splice::FileRange range = file.Meta().groups.at(0).columns.at(kTags).offset_index;
  IW_ASSERT_OK_AND_ASSIGN(
      const splice::OffsetIndex index,
      splice::ParseOffsetIndex(file.view().substr(static_cast<std::size_t>(range.offset),
                                                  static_cast<std::size_t>(range.size))));
  ASSERT_GE(index.pages.size(), 3U);
  const auto second = static_cast<std::int32_t>(index.pages[1].first_row);
  const auto third = static_cast<std::int32_t>(index.pages[2].first_row);
  file.SetFirstRow(kTags, 1, second + 2);
  file.SetFirstRow(kTags, 2, third + 2);
  ASSERT_THAT(
      WriteFile(*table.io(), task.data_file.file_path, file.bytes(), CreateMode::kAtomicReplace),
      IsOk());
  task.deletes = {table.DeletePositions("d", task.data_file, {second + 20, second + 21})};
  IW_ASSERT_OK_AND_ASSIGN(const auto spliced, table.Splice(RequestOf({task})));
  table.SetOperation("decoded");
  IW_ASSERT_OK_AND_ASSIGN(const auto decoded, table.Rewrite(RequestOf({task})));
  EXPECT_EQ(table.Rows(spliced.added), table.Rows(decoded.added));
}

const CountsCase kCases[] = {
    {"Right", {}, {}},
    // Within the padding of the last group of bit-packed indices.
    {"OneNullTooFew", [](const PageHeader& h) { return h.nulls - 1; }, {}},
    {"OneNullTooMany", [](const PageHeader& h) { return h.nulls + 1; }, {}},
    {"NoNulls", [](const PageHeader&) { return 0; }, {}},
    // parquet-java before 1.18 without statistics, parquet-cpp before 12.
    {"NullsMinusOne", [](const PageHeader&) { return -1; }, {}},
    // parquet-cpp before 12, where lists are.
    {"RowsAreValues", {}, [](const PageHeader& h) { return h.values; }},
};

INSTANTIATE_TEST_SUITE_P(Headers, SpliceCountsTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace icewright
