#include "data/batch_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "data/arrow_schema.h"
#include "data/read_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Type kLong = Type::Of(TypeId::kLong);

TableMetadata IdTable(int format_version = 2) {
  return MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})}, format_version);
}
const arrow::FieldVector kIdColumn = {Col(1, "id", arrow::int64())};

std::string Ids(int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i)
    out += (i > 0 ? "," : "") + ("{\"id\": " + std::to_string(i)) + "}";
  return out + "]";
}

/// The first task's rows, batch by batch.
struct Opened {
  std::shared_ptr<const ReadPlan> plan;
  std::unique_ptr<BatchReader> reader;
};
Result<Opened> Open(RunContext& run, ReadTestTable& table, Schema projection,
                    std::int64_t batch_rows = 16 * 1024) {
  const std::shared_ptr<const TableMetadata> metadata(std::shared_ptr<void>(), &table.metadata());
  IW_ASSIGN(auto made, MakeReadPlan(metadata, std::move(projection)));
  auto plan = std::make_shared<ReadPlan>(*made);
  plan->batch_rows = batch_rows;
  Opened out{plan, nullptr};
  IW_ASSIGN(out.reader,
            OpenTask(run, plan, table.shared_io(), MakeDeleteCache(plan, table.shared_io()),
                     table.tasks()[0], MakePool(run)));
  return out;
}

TEST(BatchReaderTest, BatchesHaveThePlansSchemaAndCountRows) {
  ReadTestTable table(IdTable());
  table.AddData("f.parquet", kIdColumn, {Ids(5), Ids(3)});
  table.DeleteVector("v.puffin", {0, 6});
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const Opened opened, Open(run, table, table.metadata().schema(), 2));
  std::vector<std::int64_t> rows;
  for (;;) {
    IW_ASSERT_OK_AND_ASSIGN(const auto batch, opened.reader->Next(run));
    if (batch == nullptr) break;
    EXPECT_TRUE(batch->schema()->Equals(*opened.plan->arrow_schema, /*check_metadata=*/true));
    EXPECT_TRUE(batch->ValidateFull().ok());
    rows.push_back(batch->num_rows());
  }
  EXPECT_THAT(rows, ElementsAre(1, 2, 1, 1, 1));
  EXPECT_EQ(opened.reader->counts().rows_read, 8);
  EXPECT_EQ(opened.reader->counts().rows_deleted, 2);
}

TEST(BatchReaderTest, RowsThatNeedNoColumnAreCounted) {
  ReadTestTable table(IdTable());
  table.AddData("f.parquet", kIdColumn, {Ids(5), Ids(3)});
  table.DeleteVector("v.puffin", {0});
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const Opened opened, Open(run, table, Schema()));
  std::int64_t rows = 0;
  for (;;) {
    IW_ASSERT_OK_AND_ASSIGN(const auto batch, opened.reader->Next(run));
    if (batch == nullptr) break;
    rows += batch->num_rows();
  }
  EXPECT_EQ(rows, 7);
}

TEST(BatchReaderTest, MetadataColumns) {
  ReadTestTable table(IdTable(3));
  FileTask& task = table.AddData("f.parquet", kIdColumn, {Ids(2), Ids(2)});
  task.data_file.first_row_id = 100;
  task.sequence_number = SequenceNumber{7};
  table.DeleteVector("v.puffin", {1});
  const RowScanOptions options{
      .columns = {"_pos", "id", "_file", "_row_id", "_last_updated_sequence_number"}};
  EXPECT_THAT(table.Rows(options),
              IsOkAndHolds(ElementsAre(R"([0,0,"f.parquet",100,7])", R"([2,0,"f.parquet",102,7])",
                                       R"([3,1,"f.parquet",103,7])")));
}

TEST(BatchReaderTest, StoredLineageWinsWhereItIsNotNull) {
  ReadTestTable table(IdTable(3));
  const arrow::FieldVector columns = {
      kIdColumn[0], Col(2147483540, "_row_id", arrow::int64()),
      Col(2147483539, "_last_updated_sequence_number", arrow::int64())};
  FileTask& task = table.AddData("f.parquet", columns,
                                 {R"([{"id": 1, "_row_id": 5, "_last_updated_sequence_number": 2},
           {"id": 2, "_row_id": 6, "_last_updated_sequence_number": null},
           {"id": 3, "_row_id": null, "_last_updated_sequence_number": null}])"});
  task.data_file.first_row_id = 100;
  task.sequence_number = SequenceNumber{7};
  task.file_sequence_number = SequenceNumber{9};  // not the one that counts
  const RowScanOptions options{.columns = {"_row_id", "_last_updated_sequence_number"}};
  EXPECT_THAT(table.Rows(options), IsOkAndHolds(ElementsAre("[5,2]", "[6,7]", "[102,7]")));
  table.tasks()[0].data_file.first_row_id.reset();
  EXPECT_THAT(table.Rows(options),
              IsOkAndHolds(ElementsAre("[null,null]", "[null,null]", "[null,null]")));
}

// ---- stops and limits

TEST(BatchReaderTest, StopsBetweenBatches) {
  ReadTestTable table(IdTable());
  table.AddData("f.parquet", kIdColumn, {Ids(10)});
  std::stop_source stop;
  RunContext run({.stop = stop.get_token()});
  IW_ASSERT_OK_AND_ASSIGN(const Opened opened, Open(run, table, table.metadata().schema(), 2));
  ASSERT_THAT(opened.reader->Next(run), IsOk());
  stop.request_stop();
  EXPECT_THAT(opened.reader->Next(run), HasCode(Code::kCancelled));
  EXPECT_THAT(opened.reader->Next(run), HasCode(Code::kCancelled));
}

TEST(BatchReaderTest, StaysInsideTheBudgetOrSaysSo) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "s", TypeId::kString}}), {MakeSpec(0, {})}));
  std::string json;
  for (int i = 0; i < 2000; ++i) {
    json += (i == 0 ? "[" : ",") +
            (R"({"s": ")" + std::string(1000, static_cast<char>('a' + i % 26))) +
            std::to_string(i) + "\"}";
  }
  table.AddData("f.parquet", {Col(1, "s", arrow::utf8())}, {json + "]"});
  for (const std::int64_t limit : {std::int64_t{1} << 10, std::int64_t{64} << 10}) {
    RunContext small({.memory_limit_bytes = limit});
    EXPECT_THAT(table.Rows(small), HasError(Code::kExhausted, HasSubstr("memory limit")));
    EXPECT_EQ(small.memory().used(), 0);
    EXPECT_LE(small.memory().peak(), limit);
  }
  RunContext enough({.memory_limit_bytes = 32 << 20});
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Rows(enough));
  EXPECT_EQ(rows.size(), 2000U);
  EXPECT_EQ(enough.memory().used(), 0);
}

TEST(BatchReaderTest, WideRowsMakeShorterBatches) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "s", TypeId::kBinary}}), {MakeSpec(0, {})}));
  arrow::BinaryBuilder builder;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(builder.Append(std::string(1 << 20, static_cast<char>(i))).ok());
  }
  const auto fields = arrow::FieldVector{Col(1, "s", arrow::binary())};
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema(fields), 40, {builder.Finish().ValueOrDie()});
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto whole = arrow::Table::FromRecordBatches({batch}).ValueOrDie();
  ASSERT_TRUE(parquet::arrow::WriteTable(*whole, arrow::default_memory_pool(), sink).ok());
  table.AddFile("f.parquet", sink->Finish().ValueOrDie()->ToString());
  RunContext run;
  IW_ASSERT_OK_AND_ASSIGN(const Opened opened, Open(run, table, table.metadata().schema()));
  std::int64_t rows = 0;
  for (;;) {
    IW_ASSERT_OK_AND_ASSIGN(const auto next, opened.reader->Next(run));
    if (next == nullptr) break;
    EXPECT_LE(next->num_rows(), 16);
    rows += next->num_rows();
  }
  EXPECT_EQ(rows, 40);
}

// ---- what is refused

TEST(BatchReaderTest, RefusesEncryption) {
  ReadTestTable table(IdTable(3));
  table.AddData("f.parquet", kIdColumn, {Ids(1)}).data_file.key_metadata = Bytes("key");
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("f.parquet")));
  table.metadata().properties["encryption.key-id"] = "k";
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("encrypted")));
}

TEST(BatchReaderTest, RefusesVariantOnlyWhereItIsAskedFor) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "v", TypeId::kVariant}}),
                                {MakeSpec(0, {})}, 3));
  table.AddData("f.parquet", kIdColumn, {Ids(1)});
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("'v'")));
  EXPECT_THAT(table.Rows({.columns = {"id"}}), IsOkAndHolds(ElementsAre("[0]")));
}

TEST(BatchReaderTest, MissingFilesAreNamed) {
  ReadTestTable table(IdTable());
  table.AddData("f.parquet", kIdColumn, {Ids(1)});
  table.tasks()[0].data_file.file_path = Location("gone.parquet");
  EXPECT_THAT(table.Rows(), HasError(Code::kNotFound, HasSubstr("gone.parquet")));
}

// The manifest says what a file is; its name and its recorded size may lie.
TEST(BatchReaderTest, TrustsTheManifestsFormatAndTheFilesSize) {
  ReadTestTable table(IdTable());
  table.AddFile("looks.avro", ParquetBytes(kIdColumn, {Ids(2)}));
  table.tasks()[0].data_file.file_size_in_bytes = 7;
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[0]", "[1]")));
}

TEST(MalformedParquetTest, EveryTruncationIsCorruptAndNamed) {
  const Bytes whole = ParquetBytes(kIdColumn, {Ids(20)});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ReadTestTable table(IdTable());
    table.AddFile("cut.parquet", whole.substr(0, size));
    ASSERT_THAT(table.Rows(), HasError(Code::kCorrupt, HasSubstr("cut.parquet"))) << size;
  }
}

TEST(MalformedParquetTest, GarbageBeforeTheFooterIsCorruptAndNamed) {
  const Bytes whole = ParquetBytes(kIdColumn, {Ids(20)});
  for (const Bytes& tail : {Bytes("\xff\xff\xff\xffPAR1", 8), Bytes("\0\0\0\0PAR1", 8),
                            Bytes("\x10\0\0\0PAR1", 8), Bytes("\x10\0\0\0PARX", 8)}) {
    ReadTestTable table(IdTable());
    table.AddFile("bad.parquet", "PAR1" + Bytes(64, 'x') + tail);
    EXPECT_THAT(table.Rows(), HasError(Code::kCorrupt, HasSubstr("bad.parquet")));
  }
  ReadTestTable table(IdTable());
  table.AddFile("secret.parquet", "PAR1" + Bytes(64, 'x') + Bytes("\x10\0\0\0PARE", 8));
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("encrypted")));
}

// A damaged byte gives an error that names the file, or falls where nothing reads it. Pages carry
// checksums, so it never gives other rows.
TEST(MalformedParquetTest, DamagedBytesNeverGiveOtherRows) {
  const Bytes whole = ParquetBytes(kIdColumn, {Ids(50)});
  ReadTestTable good(IdTable());
  good.AddFile("good.parquet", whole);
  IW_ASSERT_OK_AND_ASSIGN(const auto expected, good.Rows());
  std::mt19937 rng(20240601);
  int refused = 0;
  const std::size_t pages_end = whole.rfind("schema") - 16;  // the footer starts with the schema
  for (std::size_t at = 4; at < pages_end; ++at) {
    Bytes damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (rng() % 8)));
    ReadTestTable table(IdTable());
    table.AddFile("damaged.parquet", damaged);
    RunContext run({.memory_limit_bytes = 64 << 20});
    const auto rows = table.Rows(run);
    if (rows) {
      ASSERT_EQ(*rows, expected) << at;
    } else {
      ++refused;
      ASSERT_THAT(rows.error().message(), HasSubstr("damaged.parquet")) << at;
    }
    ASSERT_EQ(run.memory().used(), 0);
  }
  EXPECT_GE(refused, static_cast<int>(pages_end) / 2);
}

TEST(MalformedParquetTest, DamagedFootersNeverCrash) {
  const Bytes whole = ParquetBytes({kIdColumn[0], Col(2, "s", arrow::list(arrow::utf8()))},
                                   {R"([{"id": 1, "s": ["a", "b"]}, {"id": 2, "s": null}])"});
  std::mt19937 rng(20240601);
  for (int round = 0; round < 1000; ++round) {
    Bytes damaged = whole;
    for (unsigned i = 0; i < 1 + rng() % 3; ++i) {
      damaged[damaged.size() - 1 - rng() % (damaged.size() / 2)] = static_cast<char>(rng());
    }
    ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong},
                                              {2, "s",
                                               Type::List({.id = FieldId{3},
                                                           .name = "element",
                                                           .type = Type::Of(TypeId::kString)})}}),
                                  {MakeSpec(0, {})}));
    table.AddFile("damaged.parquet", damaged);
    RunContext run({.memory_limit_bytes = 64 << 20});
    const auto rows = table.Rows(run);
    if (!rows) {
      ASSERT_THAT(rows.error().message(), HasSubstr("damaged.parquet"));
    }
    ASSERT_EQ(run.memory().used(), 0);
  }
}

}  // namespace
}  // namespace icewright
