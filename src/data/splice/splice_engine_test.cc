// What the splicing engine does with evolved schemas, deletes, row lineage and odd inputs. Every
// case is compared with what the decoding engine makes of it.

#include <arrow/io/memory.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>

#include "data/splice/random_rows.h"
#include "data/splice/splice_test_table.h"
#include "testing/fault_file_io.h"

namespace icewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

const std::vector<std::string> kLineage = {"id", "_row_id", "_last_updated_sequence_number"};

Properties Plain() { return {{"write.parquet.compression-codec", "zstd"}}; }

// Splices and decodes; both give the same rows. Returns the spliced group.
RewrittenGroup SpliceAndCompare(SpliceTable& table, RewriteGroupRequest request,
                                const std::vector<std::string>& columns = {}) {
  request.verify_values = true;
  auto spliced = table.Splice(request);
  EXPECT_THAT(spliced, IsOk());
  table.SetOperation("decoded-" + std::to_string(table.FileNames().size()));
  auto decoded = table.Rewrite(request);
  EXPECT_THAT(decoded, IsOk());
  if (!spliced || !decoded) return {};
  const auto with_ids = [](std::vector<DataFile> files) {
    for (DataFile& file : files) file.first_row_id = 5000;
    return files;
  };
  EXPECT_EQ(table.Rows(with_ids(spliced->added), columns),
            table.Rows(with_ids(decoded->added), columns));
  EXPECT_EQ(spliced->rows_deleted, decoded->rows_deleted);
  for (std::size_t i = 0; i < spliced->added.size() && i < decoded->added.size(); ++i) {
    EXPECT_EQ(spliced->added[i].null_value_counts, decoded->added[i].null_value_counts);
    EXPECT_EQ(spliced->added[i].value_counts, decoded->added[i].value_counts);
    EXPECT_EQ(spliced->added[i].nan_value_counts, decoded->added[i].nan_value_counts);
  }
  return std::move(*spliced);
}

// No byte of any input was decoded.
void ExpectNothingDecoded(const RewrittenGroup& group) {
  EXPECT_THAT(group.bytes_by_treatment, Not(Contains(Key("decode"))));
  EXPECT_THAT(group.notes, IsEmpty());
}

TEST(SplicingEngineTest, MergesFilesInOrder) {
  SpliceTable table(IdAndText());
  const auto request =
      RequestOf({table.Task("a", R"([[1, "x"], [2, null]])"), table.Task("b", R"([[3, "y"]])")});
  const RewrittenGroup group = SpliceAndCompare(table, request);
  ASSERT_THAT(group.added, SizeIs(1));
  EXPECT_THAT(table.Rows(group.added), ElementsAre(R"([1,"x"])", R"([2,null])", R"([3,"y"])"));
  EXPECT_EQ(group.added[0].file_path.text(), "memory:/t/data/00000-0-splice1-00001.parquet");
  EXPECT_EQ(group.bytes_written, group.added[0].file_size_in_bytes);
  EXPECT_EQ(group.added[0].first_row_id, std::nullopt);
  ExpectNothingDecoded(group);
}

TEST(SplicingEngineTest, TheFooterIsThatOfTheDecodingEngine) {
  SpliceTable table(NestedSchema());
  const std::string rows = R"([[1, {"name": "a", "age": 3}, ["t", null], [["k", 1]], null]])";
  const auto request = RequestOf({table.Task("a", rows), table.Task("b", rows)});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup spliced, table.Splice(request));
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup decoded, table.Rewrite(request));
  const auto ours = table.OpenParquet(spliced.added.at(0))->metadata();
  const auto theirs = table.OpenParquet(decoded.added.at(0))->metadata();
  EXPECT_TRUE(ours->schema()->Equals(*theirs->schema())) << ours->schema()->ToString();
  EXPECT_TRUE(ours->key_value_metadata()->Equals(*theirs->key_value_metadata()));
  EXPECT_EQ(ours->created_by(), theirs->created_by());
}

TEST(SplicingEngineTest, EvolvedSchemas) {
  SpliceTable table(MakeSchema({{1, "id", TypeId::kInt},
                                {2, "s", TypeId::kString},
                                {3, "f", TypeId::kFloat},
                                {4, "d", Type::Decimal(9, 2)},
                                {5, "gone", TypeId::kLong}}));
  const FileTask old =
      table.Task("a", R"([[1, "x", 1.5, "3.25", 9], [-2, null, null, "-0.01", 8]])");
  // Dropped, renamed, reordered, promoted, added.
  Field added = MakeField(6, "added", Type::Of(TypeId::kString));
  added.initial_default = std::string("new");
  Field amount = MakeField(7, "amount", Type::Decimal(30, 3));
  amount.initial_default = Int128{-12345};
  table.metadata().format_version = 3;
  table.metadata().schemas = {Schema(
      {added, MakeField(4, "d", Type::Decimal(38, 2)),
       MakeField(1, "renamed", Type::Of(TypeId::kLong)),
       MakeField(3, "f", Type::Of(TypeId::kDouble)), MakeField(2, "s", Type::Of(TypeId::kString)),
       MakeField(8, "none", Type::Of(TypeId::kDate)), amount},
      SchemaId{0})};
  const FileTask young =
      table.Task("b", R"([["own", "7.00", 10000000000, 2.25, "y", 19723, "1.000"]])");
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf({old, young, old}));
  EXPECT_EQ(group.rows_written, 5);
  ExpectNothingDecoded(group);
  EXPECT_THAT(group.bytes_by_treatment, Contains(Key("convert")));
}

TEST(SplicingEngineTest, ARequiredColumnMayBecomeOptional) {
  SpliceTable table(Schema({MakeField(1, "id", Type::Of(TypeId::kLong), true)}, SchemaId{0}));
  const FileTask old = table.Task("a", "[[1], [2]]");
  table.metadata().schemas = {
      Schema({MakeField(1, "id", Type::Of(TypeId::kLong), false)}, SchemaId{0})};
  const RewrittenGroup group =
      SpliceAndCompare(table, RequestOf({old, table.Task("b", "[[null], [3]]"), old}));
  EXPECT_THAT(table.Rows(group.added), ElementsAre("[1]", "[2]", "[null]", "[3]", "[1]", "[2]"));
  ExpectNothingDecoded(group);
}

TEST(SplicingEngineTest, AMissingIdentityColumnGetsItsPartitionsValue) {
  const Schema schema = IdAndText();
  SpliceTable table(schema, {}, 2, {MakeSpec(0, {{2, "identity"}})});
  const Schema narrow = MakeSchema({{1, "id", TypeId::kLong}});
  FileTask task =
      table.ArrowFile("hive", RowsOf(narrow, "[[1], [2]]"), parquet::default_writer_properties());
  task.data_file.partition = {std::string("p")};
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf({task, task}));
  EXPECT_THAT(table.Rows(group.added),
              ElementsAre(R"([1,"p"])", R"([2,"p"])", R"([1,"p"])", R"([2,"p"])"));
  EXPECT_EQ(group.added.at(0).partition, task.data_file.partition);
  ExpectNothingDecoded(group);
}

TEST(SplicingEngineTest, RowLineage) {
  SpliceTable table(IdAndText(), Plain(), 3);
  std::vector<FileTask> tasks = {table.Task("a", NumberedRows(0, 40)),
                                 table.Task("b", NumberedRows(40, 3)),
                                 table.Task("c", NumberedRows(50, 5))};
  tasks[0].data_file.first_row_id = 100;
  tasks[0].sequence_number = SequenceNumber{7};
  tasks[1].data_file.first_row_id = 1000;
  tasks[1].sequence_number = SequenceNumber{9};
  tasks[2].data_file.first_row_id = 140;
  tasks[2].sequence_number = SequenceNumber{9};
  tasks[0].deletes = {table.DeletePositions("d", tasks[0].data_file, {0, 1, 2, 30})};
  RewrittenGroup group = SpliceAndCompare(table, RequestOf(tasks), kLineage);
  ExpectNothingDecoded(group);
  group.added.at(0).first_row_id = 7777;
  const auto rows = table.Rows(group.added, kLineage);
  ASSERT_THAT(rows, SizeIs(44));
  EXPECT_EQ(rows[0], "[3,103,7]");
  EXPECT_EQ(rows[27], "[31,131,7]");
  EXPECT_EQ(rows[36], "[40,1000,9]");
  EXPECT_EQ(rows[39], "[50,140,9]");
  // Stored lineage stays.
  std::vector<FileTask> again = {{.data_file = group.added[0], .deletes = {}}};
  again[0].sequence_number = SequenceNumber{20};
  RewrittenGroup second = SpliceAndCompare(table, RequestOf(again), kLineage);
  ExpectNothingDecoded(second);
  second.added.at(0).first_row_id = 8888;
  EXPECT_EQ(table.Rows(second.added, kLineage), rows);
}

TEST(SplicingEngineTest, FilesFromBeforeLineageGetItWithTheCommit) {
  SpliceTable table(IdAndText(), {}, 3);
  std::vector<FileTask> tasks = {table.Task("a", NumberedRows(1, 1)),
                                 table.Task("b", NumberedRows(2, 1))};
  tasks[1].data_file.first_row_id = 40;
  tasks[1].sequence_number = SequenceNumber{5};
  RewrittenGroup group = SpliceAndCompare(table, RequestOf(tasks), kLineage);
  group.added.at(0).first_row_id = 500;
  EXPECT_THAT(table.Rows(group.added, kLineage), ElementsAre("[1,500,0]", "[2,40,5]"));
}

TEST(SplicingEngineTest, DeletedRangesTouchTheirPagesOnly) {
  Properties properties = Plain();
  properties["write.parquet.page-row-limit"] = "1000";
  SpliceTable table(IdAndText(), properties);
  std::string json;
  for (int i = 0; i < 20'000; ++i) {
    json += (json.empty() ? "[[" : ",[") + std::to_string(i) +
            (i % 5 == 0 ? ",null]" : ",\"" + std::to_string(i % 97) + "\"]");
  }
  FileTask task = table.Task("a", json + "]");
  std::vector<int> positions;
  for (int i = 4'500; i < 4'700; ++i) positions.push_back(i);
  task.deletes = {table.DeletePositions("d", task.data_file, positions)};
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf({task}));
  EXPECT_EQ(group.rows_deleted, 200);
  EXPECT_EQ(group.rows_written, 19'800);
  ExpectNothingDecoded(group);
  const std::int64_t filtered = group.bytes_by_treatment.at("filter");
  EXPECT_LT(filtered * 10, group.bytes_read);
  EXPECT_GT(filtered, 0);
}

TEST(SplicingEngineTest, DeletesInNestedColumnsAndOfWholeFiles) {
  RandomRows random(4);
  SpliceTable table(NestedSchema(), Plain());
  const auto properties = parquet::WriterProperties::Builder().max_row_group_length(50)->build();
  FileTask task = table.ArrowFile("a", random.Make(NestedSchema(), 200), properties);
  FileTask gone = table.ArrowFile("b", random.Make(NestedSchema(), 3), properties);
  std::vector<int> positions = {0, 3, 7};
  for (int i = 50; i < 100; ++i) positions.push_back(i);  // a whole row group
  positions.push_back(199);
  task.deletes = {table.DeletePositions("d", task.data_file, positions)};
  gone.deletes = {table.DeletePositions("e", gone.data_file, {0, 1, 2})};
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf({gone, task, gone}));
  EXPECT_EQ(group.rows_written, 200 - 54);
  const RewrittenGroup nothing = SpliceAndCompare(table, RequestOf({gone}));
  EXPECT_THAT(nothing.added, IsEmpty());
}

TEST(SplicingEngineTest, ScatteredDeletesDecodeTheFile) {
  SpliceTable table(IdAndText(), Plain());
  FileTask task = table.Task("a", NumberedRows(0, 200'000));
  std::vector<int> positions;
  for (int i = 0; i < 200'000; i += 1'000) positions.push_back(i);
  task.deletes = {table.DeletePositions("d", task.data_file, positions)};
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf({task}));
  EXPECT_THAT(group.bytes_by_treatment, ElementsAre(testing::Pair("decode", group.bytes_read)));
}

TEST(SplicingEngineTest, OnlyTheColumnsThatMustAreDecoded) {
  SpliceTable table(PrimitiveSchema(), Plain());
  RandomRows random(9);
  const auto with = parquet::WriterProperties::Builder()
                        .disable_statistics("s")
                        ->enable_store_decimal_as_integer()
                        ->build();
  const auto rows = random.Make(PrimitiveSchema(), 1000);
  const FileTask a = table.ArrowFile("a", rows, with);
  const RewrittenGroup group =
      SpliceAndCompare(table, RequestOf({a, table.ArrowFile("b", rows, with)}));
  EXPECT_THAT(group.bytes_by_treatment, Contains(Key("decode")));
  EXPECT_LT(group.bytes_by_treatment.at("decode") * 3, group.bytes_read);
}

TEST(SplicingEngineTest, FilesRollAndRowGroupsEnd) {
  Properties properties = {{"write.parquet.compression-codec", "uncompressed"},
                           {"write.parquet.row-group-size-bytes", "40000"},
                           {"write.parquet.dict-encoding-enabled.column.id", "false"},
                           {"write.parquet.dict-encoding-enabled.column.s", "false"}};
  SpliceTable table(IdAndText(), properties);
  std::vector<FileTask> tasks;
  for (int i = 0; i < 24; ++i) {
    tasks.push_back(table.Task("f" + std::to_string(i), NumberedRows(i * 1000, 1000)));
  }
  RewriteGroupRequest request = RequestOf(std::move(tasks));
  request.roll_at_bytes = 100'000;
  request.expected_output_files = 3;
  const RewrittenGroup group = SpliceAndCompare(table, request);
  ASSERT_THAT(group.added, SizeIs(3));
  for (const DataFile& file : group.added) {
    EXPECT_GT(file.file_size_in_bytes, 60'000);
    EXPECT_LT(file.file_size_in_bytes, 120'000);
    EXPECT_GE(file.split_offsets.size(), 2);
    EXPECT_EQ(file.split_offsets.front(), 4);
  }
}

TEST(SplicingEngineTest, GroupsThatOnlyDecodingCanDo) {
  struct Case {
    const char* why;
    std::function<void(SpliceTable&, RewriteGroupRequest&)> change;
  };
  const Case cases[] = {
      {"rows are sorted",
       [](SpliceTable& table, RewriteGroupRequest& request) {
         request.sort_order = *SortOrder::Parse(table.schema(), "id desc");
       }},
      {"codec",
       [](SpliceTable& table, RewriteGroupRequest&) {
         table.metadata().properties["write.parquet.compression-codec"] = "brotli";
       }},
      {"format is not Parquet",
       [](SpliceTable& table, RewriteGroupRequest&) {
         table.metadata().properties["write.format.default"] = "avro";
       }},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.why);
    SpliceTable table(IdAndText());
    RewriteGroupRequest request =
        RequestOf({table.Task("a", NumberedRows(0, 10)), table.Task("b", NumberedRows(10, 10))});
    test.change(table, request);
    const RewrittenGroup group = SpliceAndCompare(table, request);
    EXPECT_THAT(group.notes, Contains(HasSubstr(test.why)));
    EXPECT_THAT(group.bytes_by_treatment, ElementsAre(testing::Pair("decode", group.bytes_read)));
  }
}

// The Bloom filter of a column as bytes; empty: none.
std::string BloomOf(SpliceTable& table, const DataFile& file, int column) {
  const auto reader = table.OpenParquet(file);
  const auto group = reader->GetBloomFilterReader().RowGroup(0);
  const auto filter = group == nullptr ? nullptr : group->GetColumnBloomFilter(column);
  if (filter == nullptr) return {};
  const auto sink = *arrow::io::BufferOutputStream::Create();
  filter->WriteTo(sink.get());
  return (*sink->Finish())->ToString();
}

TEST(SplicingEngineTest, BloomFiltersAreThoseOfTheDecodingEngine) {
  struct Case {
    const char* name;
    Properties properties;
    bool delta;
  };
  const Case cases[] = {
      {"folded", {}, false},
      {"for a number of values",
       {{"write.parquet.bloom-filter-ndv.column.id", "500"},
        {"write.parquet.bloom-filter-fpp.column.id", "0.05"}},
       false},
      {"over an encoding that must be decoded", {}, true},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    SpliceTable table(IdAndText(), Plain());
    for (const auto& [key, value] : test.properties) table.metadata().properties[key] = value;
    for (const char* column : {"id", "s"}) {
      table.metadata()
          .properties["write.parquet.bloom-filter-enabled.column." + std::string(column)] = "true";
    }
    std::vector<FileTask> tasks;
    for (int i = 0; i < 4; ++i) {
      parquet::WriterProperties::Builder builder;
      builder.compression(arrow::Compression::ZSTD);
      if (i % 2 == 0) builder.disable_dictionary();
      if (test.delta) {
        builder.disable_dictionary("id");
        builder.encoding("id", parquet::Encoding::DELTA_BINARY_PACKED);
      }
      tasks.push_back(table.ArrowFile("f" + std::to_string(i),
                                      RowsOf(table.schema(), NumberedRows(i * 100, 150)),
                                      builder.build()));
    }
    const RewriteGroupRequest request = RequestOf(tasks);
    const RewrittenGroup group = SpliceAndCompare(table, request);
    table.SetOperation("again");
    IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup decoded, table.Rewrite(request));
    for (int column = 0; column < 2; ++column) {
      const std::string filter = BloomOf(table, group.added.at(0), column);
      EXPECT_FALSE(filter.empty());
      EXPECT_EQ(filter, BloomOf(table, decoded.added.at(0), column)) << column;
    }
    EXPECT_THAT(group.notes, IsEmpty());
    EXPECT_EQ(group.bytes_by_treatment.contains("decode"), test.delta);
    EXPECT_GT(group.bytes_by_treatment.size(), test.delta ? 1 : 0) << "only one column decodes";
  }
}

TEST(SplicingEngineTest, SortedFilesThatDoNotOverlapAreConcatenated) {
  struct Case {
    const char* name;
    std::string order;
    std::vector<std::string> files;
    bool moves;
  };
  const std::string a = R"([[1, "a"], [2, "a"], [3, "b"]])";
  const std::string b = R"([[4, "b"], [5, "c"]])";
  const std::string c = R"([[6, "d"], [9, "e"]])";
  const std::string prefix(40, 'x');  // longer than bounds of texts
  const Case cases[] = {
      {"in any order", "id asc", {c, a, b}, true},
      {"by texts", "s asc, id asc", {b, a, c}, true},
      {"by cut texts",
       "s asc",
       {R"([[1, ")" + prefix + R"(a"], [2, ")" + prefix + R"(b"]])",
        R"([[3, ")" + prefix + R"(c"]])"},
       true},
      {"by cut texts that overlap",
       "s asc",
       {R"([[1, ")" + prefix + R"(a"], [2, ")" + prefix + R"(c"]])",
        R"([[3, ")" + prefix + R"(b"]])"},
       false},
      {"descending files", "id desc", {R"([[3, "a"], [2, "b"]])", R"([[9, "c"], [4, "a"]])"}, true},
      {"the other way", "id desc", {a, b}, false},
      {"overlapping", "id asc", {a, R"([[2, "x"], [7, "y"]])"}, false},
      {"unsorted inside", "id asc", {a, R"([[7, "x"], [5, "y"]])"}, false},
      {"nulls first", "s asc nulls first, id asc", {R"([[1, null], [2, "a"]])", c}, true},
      {"nulls in the way", "s asc nulls first", {a, R"([[1, null], [2, "e"]])"}, false},
      {"touching with a second key", "s asc, id desc", {R"([[1, "a"]])", R"([[2, "a"]])"}, false},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    SpliceTable table(IdAndText(), Plain());
    std::vector<FileTask> tasks;
    for (const std::string& rows : test.files) {
      tasks.push_back(table.Task("f" + std::to_string(tasks.size()), rows));
    }
    RewriteGroupRequest request = RequestOf(tasks);
    request.sort_order = *SortOrder::Parse(table.schema(), test.order);
    request.sort_order->id = SortOrderId{3};
    table.metadata().sort_orders.push_back(*request.sort_order);
    const RewrittenGroup group = SpliceAndCompare(table, request);
    ASSERT_THAT(group.added, SizeIs(1));
    EXPECT_EQ(group.added[0].sort_order_id, SortOrderId{3});
    EXPECT_EQ(group.bytes_by_treatment.contains("decode"), !test.moves);
    if (!test.moves) {
      EXPECT_THAT(group.notes, Contains(HasSubstr("rows are sorted")));
    }
  }
}

TEST(SplicingEngineTest, StaysWithinItsMemory) {
  constexpr std::int64_t kLimit = 16 << 20;
  const Schema schema =
      MakeSchema({{1, "a", TypeId::kLong}, {2, "b", TypeId::kLong}, {3, "c", TypeId::kLong}});
  SpliceTable table(schema, {{"write.parquet.compression-codec", "uncompressed"}});
  parquet::WriterProperties::Builder builder;
  builder.disable_dictionary()->compression(arrow::Compression::UNCOMPRESSED);
  RandomRows random(1);
  const auto rows = random.Make(schema, 100'000);
  std::vector<FileTask> tasks;
  for (int i = 0; i < 12; ++i) {
    tasks.push_back(table.ArrowFile("f" + std::to_string(i), rows, builder.build()));
  }
  RewriteGroupRequest request = RequestOf(std::move(tasks));
  request.threads = 2;
  RunContext run({.memory_limit_bytes = kLimit, .threads = 2});
  IW_ASSERT_OK_AND_ASSIGN(const RewrittenGroup group, table.Splice(run, request));
  EXPECT_EQ(group.rows_written, 1'200'000);
  EXPECT_GT(group.bytes_read, kLimit);
  EXPECT_LE(run.memory().peak(), kLimit);
}

TEST(SplicingEngineTest, InputsOfOtherFormatsAreDecodedAlone) {
  SpliceTable table(IdAndText());
  std::vector<FileTask> tasks = {table.Task("a", NumberedRows(0, 10))};
  table.metadata().properties["write.format.default"] = "avro";
  tasks.push_back(table.Task("b", NumberedRows(10, 10)));
  tasks.back().data_file.file_format = FileFormat::kAvro;
  table.metadata().properties.clear();
  tasks.push_back(table.Task("c", NumberedRows(20, 10)));
  const RewrittenGroup group = SpliceAndCompare(table, RequestOf(tasks));
  EXPECT_EQ(group.bytes_by_treatment.at("decode"), tasks[1].data_file.file_size_in_bytes);
}

TEST(SplicingEngineTest, DamagedFilesAreNamed) {
  SpliceTable table(IdAndText());
  const FileTask good = table.Task("good", NumberedRows(0, 100));
  const auto properties = parquet::WriterProperties::Builder().enable_page_checksum()->build();
  FileTask bad = table.ArrowFile("bad", RowsOf(IdAndText(), NumberedRows(0, 100)), properties);
  IW_ASSERT_OK_AND_ASSIGN(Bytes bytes, ReadFile(*table.io(), bad.data_file.file_path));
  bytes[60] = static_cast<char>(bytes[60] ^ 0x10);  // in the first page
  ASSERT_THAT(WriteFile(*table.io(), bad.data_file.file_path, bytes, CreateMode::kAtomicReplace),
              IsOk());
  const auto before = table.FileNames();
  EXPECT_THAT(table.Splice(RequestOf({good, bad})),
              HasError(Code::kCorrupt, HasSubstr("data/bad.parquet")));
  EXPECT_EQ(table.FileNames(), before);
  FileTask wrong = good;
  wrong.data_file.record_count = 99;
  EXPECT_THAT(table.Splice(RequestOf({wrong})),
              HasError(Code::kCorrupt, HasSubstr("its manifest entry says 99 rows, it has 100")));
}

TEST(SplicingEngineTest, AutoGoesByCost) {
  SpliceTable table(PrimitiveSchema(), Plain());
  RandomRows random(3);
  const auto rows = random.Make(PrimitiveSchema(), 500);
  const auto request = RequestOf(
      {table.ArrowFile("a", rows, parquet::default_writer_properties()),
       table.ArrowFile("b", rows,
                       parquet::WriterProperties::Builder().disable_statistics()->build())});
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const auto spliced,
                          table.Splice(run, RequestOf({request.tasks[0]}), EngineChoice::kAuto));
  EXPECT_THAT(spliced.bytes_by_treatment, Not(ElementsAre(Key("decode"))));
  IW_ASSERT_OK_AND_ASSIGN(const auto decoded,
                          table.Splice(run, RequestOf({request.tasks[1]}), EngineChoice::kAuto));
  EXPECT_THAT(decoded.notes, Contains(HasSubstr("estimated to cost less")));
}

TEST(SplicingEngineTest, EstimatesSayWhy) {
  SpliceTable table(IdAndText(), Plain());
  const auto request = RequestOf(
      {table.Task("a", NumberedRows(0, 10)),
       table.ArrowFile("b", RowsOf(IdAndText(), NumberedRows(0, 10)),
                       parquet::WriterProperties::Builder().disable_statistics("s")->build())});
  IW_ASSERT_OK_AND_ASSIGN(const auto engine,
                          MakeEngine(EngineChoice::kSplice, table.shared(), table.io(), "e"));
  IW_ASSERT_OK_AND_ASSIGN(const RewriteEstimate estimate, engine->Estimate(table.run(), request));
  EXPECT_THAT(estimate.bytes_by_treatment, Contains(Key("remap")));
  EXPECT_THAT(estimate.bytes_by_treatment, Contains(Key("decode")));
  EXPECT_THAT(estimate.reasons, Contains("decode: column s: no null count (1 file(s))"));
  EXPECT_THAT(ParseEngineChoice("fast"), HasCode(Code::kInvalidArgument));
}

// Whatever fails: no file of ours stays behind.
TEST(SplicingEngineSweepTest, EveryFailureRemovesItsFiles) {
  SpliceTable table(IdAndText(), {{"write.parquet.compression-codec", "uncompressed"}});
  std::vector<FileTask> tasks;
  for (int i = 0; i < 6; ++i) {
    tasks.push_back(table.Task("f" + std::to_string(i), NumberedRows(i * 100, 100)));
  }
  tasks[2].deletes = {table.DeletePositions("d", tasks[2].data_file, {1, 2})};
  RewriteGroupRequest request = RequestOf(std::move(tasks));
  request.roll_at_bytes = 2'000;
  request.verify_values = true;
  const auto before = table.FileNames();
  int failures = 0;
  for (int step = 0;; ++step) {
    ASSERT_LT(step, 1000);
    auto faults = std::make_shared<FaultFileIO>(table.io());
    faults->FailAt(step);
    IW_ASSERT_OK_AND_ASSIGN(const auto engine, MakeEngine(EngineChoice::kSplice, table.shared(),
                                                          faults, "sweep" + std::to_string(step)));
    const auto result = engine->Rewrite(table.run(), request);
    if (result) break;
    ++failures;
    EXPECT_EQ(table.FileNames(), before) << step << ": " << result.error().message();
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace icewright
