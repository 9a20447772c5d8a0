#include "data/rewrite_engine.h"

#include "codec/json.h"
#include "data/rewrite_test_table.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(DecodingEngineTest, MergesFilesInOrder) {
  RewriteTestTable table(IdAndText());
  const auto request =
      RequestOf({table.Task("a", R"([[1, "x"], [2, null]])"), table.Task("b", R"([[3, "y"]])")});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
  ASSERT_THAT(group.added, SizeIs(1));
  EXPECT_THAT(table.Rows(group.added), ElementsAre(R"([1,"x"])", R"([2,null])", R"([3,"y"])"));
  EXPECT_EQ(group.added[0].file_path.text(), "memory:/t/data/00000-0-op-00001.parquet");
  EXPECT_EQ(group.rows_read, 3);
  EXPECT_EQ(group.rows_deleted, 0);
  EXPECT_EQ(group.rows_written, 3);
  EXPECT_EQ(group.bytes_read, request.tasks[0].data_file.file_size_in_bytes +
                                  request.tasks[1].data_file.file_size_in_bytes);
  EXPECT_EQ(group.bytes_written, group.added[0].file_size_in_bytes);
  EXPECT_THAT(group.notes, IsEmpty());
  EXPECT_EQ(group.added[0].sort_order_id, SortOrderId{0});
  EXPECT_EQ(group.added[0].first_row_id, std::nullopt);
  EXPECT_THAT(
      group.added[0].lower_bounds,
      ElementsAre(Pair(FieldId{1}, std::string("\1\0\0\0\0\0\0\0", 8)), Pair(FieldId{2}, "x")));
}

TEST(DecodingEngineTest, WritesTheTablesSchemaOfNow) {
  RewriteTestTable table(IdAndText());
  const FileTask old = table.Task("a", R"([[1, "x"]])");
  // id becomes the second column, s is gone, n is new.
  table.metadata().schemas = {MakeSchema({{3, "n", TypeId::kInt}, {1, "renamed", TypeId::kLong}})};
  const FileTask young = table.Task("b", "[[7, 2]]");
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(RequestOf({old, young})));
  EXPECT_THAT(table.Rows(group.added), ElementsAre("[null,1]", "[7,2]"));
}

TEST(DecodingEngineTest, AppliesDeletes) {
  RewriteTestTable table(IdAndText());
  FileTask task = table.Task("a", NumberedRows(0, 5));
  task.deletes = {table.DeletePositions("d", task.data_file, {1, 3})};
  for (const int threads : {1, 2}) {
    RunContext run({.threads = threads});
    IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(run, RequestOf({task})));
    EXPECT_THAT(table.Rows(group.added, {"id"}), ElementsAre("[0]", "[2]", "[4]"));
    EXPECT_EQ(group.rows_read, 5);
    EXPECT_EQ(group.rows_deleted, 2);
    EXPECT_EQ(group.rows_written, 3);
    ASSERT_THAT(table.io()->Delete(group.added[0].file_path), IsOk());
  }
}

TEST(DecodingEngineTest, AGroupWithoutRowsHasNoFiles) {
  RewriteTestTable table(IdAndText());
  FileTask task = table.Task("a", NumberedRows(0, 2));
  task.deletes = {table.DeletePositions("d", task.data_file, {0, 1})};
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(RequestOf({task})));
  EXPECT_THAT(group.added, IsEmpty());
  EXPECT_EQ(group.rows_deleted, 2);
  EXPECT_THAT(table.FileNames(), SizeIs(2));
}

const std::vector<std::string> kLineage = {"id", "_row_id", "_last_updated_sequence_number"};

TEST(DecodingEngineTest, KeepsLineageFromFormatVersion3On) {
  RewriteTestTable table(IdAndText(), {}, 3);
  FileTask task = table.Task("a", NumberedRows(1, 3));
  task.data_file.first_row_id = 100;
  task.sequence_number = SequenceNumber{7};
  task.deletes = {table.DeletePositions("d", task.data_file, {1})};
  auto request = RequestOf({task});
  request.verify_values = true;
  IW_ASSERT_OK_AND_ASSIGN(RewrittenGroup group, table.Rewrite(request));
  EXPECT_EQ(group.added[0].first_row_id, std::nullopt) << "the commit assigns it";
  // What the manifest assigns anew does not replace what the file stores.
  group.added[0].first_row_id = 500;
  EXPECT_THAT(table.Rows(group.added, kLineage), ElementsAre("[1,100,7]", "[3,102,7]"));

  table.SetOperation("op2");
  request.tasks = {
      {.data_file = group.added[0], .sequence_number = SequenceNumber{9}, .deletes = {}}};
  IW_ASSERT_OK_AND_ASSIGN(RewrittenGroup second, table.Rewrite(request));
  second.added[0].first_row_id = 600;
  EXPECT_THAT(table.Rows(second.added, kLineage), ElementsAre("[1,100,7]", "[3,102,7]"));
}

TEST(DecodingEngineTest, FilesFromBeforeLineageGetItWithTheCommit) {
  RewriteTestTable table(IdAndText(), {}, 3);
  auto request =
      RequestOf({table.Task("a", NumberedRows(1, 1)), table.Task("b", NumberedRows(2, 1))});
  request.tasks[1].data_file.first_row_id = 40;
  request.tasks[1].sequence_number = SequenceNumber{5};
  request.verify_values = true;
  IW_ASSERT_OK_AND_ASSIGN(RewrittenGroup group, table.Rewrite(request));
  group.added[0].first_row_id = 500;
  EXPECT_THAT(table.Rows(group.added, kLineage), ElementsAre("[1,500,0]", "[2,40,5]"));
}

// Files whose size is known while they are written: 13 bytes a row.
Properties PlainPages() {
  return {{"write.parquet.compression-codec", "uncompressed"},
          {"write.parquet.dict-encoding-enabled.column.id", "false"},
          {"write.parquet.dict-encoding-enabled.column.s", "false"}};
}

TEST(DecodingEngineTest, RollsAtTheSize) {
  RewriteTestTable table(IdAndText(), PlainPages());
  auto request = RequestOf(
      {table.Task("a", NumberedRows(0, 6000)), table.Task("b", NumberedRows(6000, 6000))});
  request.roll_at_bytes = 30000;
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
  std::int64_t rows = 0;
  for (const DataFile& file : group.added) rows += file.record_count;
  EXPECT_EQ(rows, 12000);
  ASSERT_EQ(group.added.size(), 6u);  // 2,308 rows or a little more in each
  for (std::size_t i = 0; i + 1 < group.added.size(); ++i) {
    // The estimate counts the levels of open pages before they are packed.
    EXPECT_GE(group.added[i].file_size_in_bytes, 28000) << i;
    EXPECT_LT(group.added[i].file_size_in_bytes, 30000 + 1000 * 14) << i;
  }
  EXPECT_EQ(group.added[5].file_path.text(), "memory:/t/data/00000-0-op-00006.parquet");
}

TEST(DecodingEngineTest, TheLastExpectedFileTakesASmallRest) {
  const auto files_of = [](std::int64_t expected) {
    RewriteTestTable table(IdAndText(), PlainPages());
    auto request = RequestOf({table.Task("a", NumberedRows(0, 16000))});
    request.roll_at_bytes = 200000;
    request.expected_output_files = expected;
    auto group = table.Rewrite(request);
    EXPECT_THAT(group, IsOk());
    return group->added.size();
  };
  EXPECT_EQ(files_of(1), 1u);
  EXPECT_EQ(files_of(2), 2u) << "more were planned: no file takes more than its share";
}

TEST(DecodingEngineTest, OpenPagesThatWillShrinkMakeNoMoreFilesThanPlanned) {
  // Pages are compressed when they are full: until then the writer counts them in full.
  RewriteTestTable table(IdAndText(), {{"write.parquet.compression-codec", "zstd"},
                                       {"write.parquet.dict-encoding-enabled.column.s", "false"}});
  std::vector<FileTask> tasks;
  std::int64_t bytes = 0;
  for (const std::string name : {"a", "b", "c", "d"}) {
    tasks.push_back(table.Task(name, NumberedRows(0, 6000, std::string(100, 'x'))));
    bytes += tasks.back().data_file.file_size_in_bytes;
  }
  auto request = RequestOf(std::move(tasks));
  request.expected_output_files = 2;
  request.roll_at_bytes = bytes / 2 + 1024;
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
  EXPECT_EQ(group.added.size(), 2u);
}

Properties Format(const std::string& name) { return {{"write.format.default", name}}; }

TEST(DecodingEngineTest, WritesTheTablesFormatFromAnyFormat) {
  for (const std::string to : {"parquet", "avro", "orc"}) {
    for (const std::string from : {"parquet", "avro", "orc"}) {
      SCOPED_TRACE(from + " to " + to);
      RewriteTestTable table(NestedSchema(), Format(from));
      const auto task = table.Task("a", R"([
          [1, ["ann", 30], ["x", null], [["k", 1]], [[7, [["q", 1.5]]]]],
          [2, null, null, null, null], [3, ["bob", null], [], [], []]])");
      table.metadata().properties = Format(to);
      auto request = RequestOf({task});
      request.verify_values = true;
      IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
      ASSERT_THAT(group.added, SizeIs(1));
      EXPECT_TRUE(group.added[0].file_path.text().ends_with("." + to));
      EXPECT_EQ(table.Rows(group.added), table.Rows({task.data_file}));
      EXPECT_EQ(group.added[0].record_count, 3);
    }
  }
}

TEST(DecodingEngineTest, EveryPrimitiveTypeSurvivesAvroAndOrc) {
  for (const std::string format : {"avro", "orc"}) {
    RewriteTestTable table(PrimitiveSchema(), Format(format));
    const std::string json = R"([
        [true, 5, -7, 1.5, -2.5, 10, 1000000, 17, 18, "m", "aaaaaaaaaaaaaaaa", "abc", "x", "1.50", "-2.500", "3.0000000000"],
        [null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null],
        [false, -2147483648, 9223372036854775807, -0.0, NaN, -1, 86399999999, -1, -2208988800000000, "", "zzzzzzzzzzzzzzzz",
         "\u0000ab", "", "-9999999.99", "999999999999999.999", "-1234567890123456789012345678.0000000001"]])";
    IW_ASSERT_OK_AND_ASSIGN(const DataFile file, table.Write("a", json));
    IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Read(file));
    EXPECT_TRUE(
        rows->Equals(*RowsOf(table.schema(), json), false, arrow::EqualOptions().nans_equal(true)))
        << format << rows->ToString();
    if (format == "avro") {
      EXPECT_THAT(file.value_counts, IsEmpty()) << "as Java's";
    } else {
      EXPECT_THAT(file.value_counts, SizeIs(16));
    }
  }
}

TEST(DecodingEngineTest, PartitionsByTheOutputSpec) {
  RewriteTestTable table(IdAndText(), {}, 2, {MakeSpec(0, {}), MakeSpec(1, {{2, "identity"}}, 0)});
  auto request =
      RequestOf({table.Task("a", R"([[1, "x"], [2, "y"], [3, "x"]])"),
                 table.Task("b", R"([[4, "y"], [5, null]])"),
                 table.Task("c", R"([[6, "trusted"]])", {Literal{std::string("z")}}, SpecId{1})});
  request.output_spec_id = SpecId{1};
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
  std::vector<std::string> got;
  for (const DataFile& file : group.added) {
    EXPECT_EQ(file.spec_id, SpecId{1});
    std::string text = file.file_path.text().substr(15) + ":";
    for (const std::string& row : table.Rows({file}, {"id"})) text += " " + row;
    got.push_back(text);
  }
  EXPECT_THAT(got, ElementsAre("p0=x/00000-0-op-00001.parquet: [1] [3]",
                               "p0=y/00000-0-op-00002.parquet: [2] [4]",
                               "p0=null/00000-0-op-00003.parquet: [5]",
                               "p0=z/00000-0-op-00004.parquet: [6]"));
  EXPECT_EQ(group.added[0].partition, StructValue{Literal{std::string("x")}});
}

TEST(DecodingEngineTest, SortsAndNamesTheTablesOrder) {
  RewriteTestTable table(IdAndText());
  IW_ASSERT_OK_AND_ASSIGN(SortOrder order, SortOrder::Parse(table.schema(), "s desc, id"));
  auto request = RequestOf({table.Task("a", R"([[3, "a"], [1, "b"], [9, null]])"),
                            table.Task("b", R"([[2, "b"], [0, "a"]])")});
  request.sort_order = order;
  request.verify_values = true;
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup unknown, table.Rewrite(request));
  EXPECT_THAT(table.Rows(unknown.added, {"id"}), ElementsAre("[1]", "[2]", "[0]", "[3]", "[9]"));
  EXPECT_EQ(unknown.added[0].sort_order_id, SortOrderId{0});
  EXPECT_THAT(unknown.notes, ElementsAre(HasSubstr("sort_order_id is 0")));

  order.id = SortOrderId{4};
  table.metadata().sort_orders.push_back(order);
  ASSERT_THAT(table.io()->Delete(unknown.added[0].file_path), IsOk());
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup known, table.Rewrite(request));
  EXPECT_EQ(known.added[0].sort_order_id, SortOrderId{4});
  EXPECT_THAT(known.notes, IsEmpty());
}

TEST(DecodingEngineTest, SortedGroupsOfManyPartitionsKeepOneFileOpen) {
  RewriteTestTable table(IdAndText(), {}, 2, {MakeSpec(0, {{1, "truncate[10]"}})});
  auto request = RequestOf({table.Task("a", NumberedRows(0, 10), {Literal{std::int64_t{0}}}),
                            table.Task("b", NumberedRows(10, 10), {Literal{std::int64_t{10}}})});
  IW_ASSERT_OK_AND_ASSIGN(request.sort_order, SortOrder::Parse(table.schema(), "id desc"));
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Rewrite(request));
  ASSERT_THAT(group.added, SizeIs(2));
  EXPECT_EQ(table.Rows({group.added[0]}, {"id"}).front(), "[9]");
  EXPECT_EQ(table.Rows({group.added[1]}, {"id"}).front(), "[19]");
  EXPECT_EQ(group.added[1].partition, StructValue{Literal{std::int64_t{10}}});
}

TEST(DecodingEngineTest, RefusesWhatMakesNoSense) {
  RewriteTestTable table(IdAndText());
  EXPECT_THAT(table.Rewrite(RequestOf({})), HasCode(Code::kInvalidArgument));
  auto request = RequestOf({table.Task("a", "[[1, null]]")});
  request.roll_at_bytes = 0;
  EXPECT_THAT(table.Rewrite(request), HasCode(Code::kInvalidArgument));
  request.roll_at_bytes = 1000;
  request.output_spec_id = SpecId{9};
  EXPECT_THAT(table.Rewrite(request), HasError(Code::kInvalidArgument, HasSubstr("spec 9")));
}

TEST(DecodingEngineTest, AFileWithOtherRowsThanItsEntryIsNotRewritten) {
  RewriteTestTable table(IdAndText());
  FileTask honest = table.Task("a", NumberedRows(0, 3));
  FileTask liar = table.Task("b", NumberedRows(3, 3));
  liar.data_file.record_count = 4;
  EXPECT_THAT(table.Rewrite(RequestOf({honest, liar})),
              HasError(Code::kCorrupt, AllOf(HasSubstr("data/b"), HasSubstr("4 rows, it has 3"))));
  EXPECT_THAT(table.FileNames(), UnorderedElementsAre("memory:/t/data/a", "memory:/t/data/b"));
}

TEST(DecodingEngineTest, NamesAForeignLocationProvider) {
  RewriteTestTable table(IdAndText(), {{"write.location-provider.impl", "com.example.P"}});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group,
                          table.Rewrite(RequestOf({table.Task("a", "[[1, null]]")})));
  EXPECT_THAT(group.notes, ElementsAre(HasSubstr("write.location-provider.impl")));
}

}  // namespace
}  // namespace icewright
