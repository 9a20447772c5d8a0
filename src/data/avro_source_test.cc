// Avro data files: types, unions, nesting, blocks and damage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codec/avro/container.h"
#include "data/read_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Type kLong = Type::Of(TypeId::kLong);
const Type kString = Type::Of(TypeId::kString);

/// One record per call of `write`.
Bytes AvroBytes(const std::string& schema,
                const std::vector<std::function<void(avro::Encoder)>>& records,
                std::size_t block_bytes = 64 << 10) {
  MemorySink sink;
  avro::ContainerWriter::Options options;
  options.block_bytes = block_bytes;
  options.sync_marker = "0123456789abcdef";
  auto writer = avro::ContainerWriter::Open(sink, schema, {}, options).value();
  for (const auto& write : records) {
    write(writer.encoder());
    EXPECT_THAT(writer.EndRecord(), IsOk());
  }
  EXPECT_THAT(writer.Finish(), IsOk());
  return sink.bytes();
}

std::string RecordOf(const std::string& fields) {
  return R"({"type": "record", "name": "table", "fields": [)" + fields + "]}";
}

struct Case {
  std::string name;
  std::string avro_type;  // JSON
  std::function<void(avro::Encoder)> write;
  Type wanted;
  std::string expected;  // the row, or the error's code
  friend void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }
};

class AvroTypeTest : public ::testing::TestWithParam<Case> {};

/// A named type is declared once, then named.
std::string SecondUse(const std::string& type) {
  const std::size_t record = type.find(R"({"type": "record", "name": "entry")");
  if (record != std::string::npos && record > 0) return type.substr(0, record) + R"("entry"})";
  return type.find(R"("name": "named")") == std::string::npos ? type : R"("named")";
}

TEST_P(AvroTypeTest, ReadsValue) {
  const Case& c = GetParam();
  ReadTestTable table(
      MakeTable(MakeSchema({{1, "v", c.wanted}, {2, "id", kLong}}), {MakeSpec(0, {})}));
  // A column before it that is skipped, one after it that is read: positions must agree.
  const std::string schema =
      RecordOf(R"({"name": "skipped", "type": )" + c.avro_type +
               R"(, "field-id": 90}, {"name": "v", "type": )" + SecondUse(c.avro_type) +
               R"(, "field-id": 1}, {"name": "id", "type": "long", "field-id": 2})");
  table.AddFile("f.avro", AvroBytes(schema, {[&](avro::Encoder out) {
                                      c.write(out);
                                      c.write(out);
                                      out.WriteLong(77);
                                    }}),
                FileFormat::kAvro);
  const auto rows = table.Rows();
  if (!rows) {
    EXPECT_EQ(Name(rows.error().code()), c.expected) << rows.error().message();
    EXPECT_THAT(rows.error().message(), HasSubstr("f.avro"));
    return;
  }
  EXPECT_THAT(*rows, ElementsAre("[" + c.expected + ",77]"));
}

Field Part(int id, const std::string& name, Type type) {
  return {.id = FieldId{id}, .name = name, .type = std::move(type)};
}

using E = avro::Encoder;
INSTANTIATE_TEST_SUITE_P(
    Table, AvroTypeTest,
    ::testing::Values(
        Case{"Boolean", R"("boolean")", [](E e) { e.WriteBoolean(true); },
             Type::Of(TypeId::kBoolean), "true"},
        Case{"IntAsLong", R"("int")", [](E e) { e.WriteInt(-7); }, kLong, "-7"},
        Case{"LongIsNoInt", R"("long")", [](E e) { e.WriteLong(7); }, Type::Of(TypeId::kInt),
             "unsupported"},
        Case{"FloatAsDouble", R"("float")", [](E e) { e.WriteFloat(0.5F); },
             Type::Of(TypeId::kDouble), "0.5"},
        Case{"OptionalValue", R"(["null", "string"])",
             [](E e) {
               e.WriteLong(1);
               e.WriteBytes("ab");
             },
             kString, R"("ab")"},
        Case{"OptionalNull", R"(["null", "string"])", [](E e) { e.WriteLong(0); }, kString, "null"},
        Case{"NullLast", R"(["long", "null"])", [](E e) { e.WriteLong(1); }, kLong, "null"},
        Case{"NoSuchBranch", R"(["null", "long"])", [](E e) { e.WriteLong(2); }, kLong, "corrupt"},
        Case{"UnionOfTwoValues", R"(["null", "long", "string"])", [](E e) { e.WriteLong(0); },
             kLong, "unsupported"},
        Case{"Date", R"({"type": "int", "logicalType": "date"})", [](E e) { e.WriteInt(-1); },
             Type::Of(TypeId::kDate), R"("1969-12-31")"},
        Case{"TimeMicros", R"({"type": "long", "logicalType": "time-micros"})",
             [](E e) { e.WriteLong(1); }, Type::Of(TypeId::kTime), R"("00:00:00.000001")"},
        Case{"TimestampMillis", R"({"type": "long", "logicalType": "timestamp-millis"})",
             [](E e) { e.WriteLong(-1); }, Type::Of(TypeId::kTimestamp),
             R"("1969-12-31T23:59:59.999")"},
        Case{"TimestampMicros",
             R"({"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true})",
             [](E e) { e.WriteLong(1); }, Type::Of(TypeId::kTimestampTz),
             R"("1970-01-01T00:00:00.000001+00:00")"},
        Case{"TimestampNanos", R"({"type": "long", "logicalType": "timestamp-nanos"})",
             [](E e) { e.WriteLong(1); }, Type::Of(TypeId::kTimestampNs),
             R"("1970-01-01T00:00:00.000000001")"},
        Case{"DecimalFixed",
             R"({"type": "fixed", "name": "named", "size": 4, "logicalType": "decimal",
                 "precision": 9, "scale": 2})",
             [](E e) { e.WriteFixed(Bytes("\xff\xff\xff\x6a", 4)); }, Type::Decimal(9, 2),
             R"("-1.50")"},
        Case{"DecimalBytes",
             R"({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2})",
             [](E e) { e.WriteBytes(Bytes("\x00\x96", 2)); }, Type::Decimal(12, 2), R"("1.50")"},
        Case{"DecimalTooLong",
             R"({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2})",
             [](E e) { e.WriteBytes(Bytes(40, '\1')); }, Type::Decimal(12, 2), "corrupt"},
        Case{"Uuid", R"({"type": "fixed", "name": "named", "size": 16, "logicalType": "uuid"})",
             [](E e) { e.WriteFixed("0123456789abcdef"); }, Type::Of(TypeId::kUuid),
             R"("30313233-3435-3637-3839-616263646566")"},
        Case{"Enum", R"({"type": "enum", "name": "named", "symbols": ["A", "B"]})",
             [](E e) { e.WriteInt(1); }, kString, R"("B")"},
        Case{"EnumBeyondItsSymbols", R"({"type": "enum", "name": "named", "symbols": ["A", "B"]})",
             [](E e) { e.WriteInt(2); }, kString, "corrupt"},
        Case{"ListInBlocks", R"({"type": "array", "items": ["null", "int"], "element-id": 5})",
             [](E e) {
               e.WriteLong(2);
               e.WriteLong(1);
               e.WriteInt(1);
               e.WriteLong(0);
               e.WriteLong(-1);  // a block that says its size
               e.WriteLong(2);
               e.WriteLong(1);
               e.WriteInt(3);
               e.WriteLong(0);
             },
             Type::List(Part(5, "element", kLong)), "[1,null,3]"},
        Case{"ListLongerThanTheFile", R"({"type": "array", "items": "null", "element-id": 5})",
             [](E e) {
               e.WriteLong(std::int64_t{1} << 40);
               e.WriteLong(0);
             },
             Type::List(Part(5, "element", Type())), "corrupt"},
        Case{"MapOfStrings", R"({"type": "map", "values": "long", "key-id": 5, "value-id": 6})",
             [](E e) {
               e.WriteLong(1);
               e.WriteBytes("k");
               e.WriteLong(9);
               e.WriteLong(0);
             },
             Type::Map(Part(5, "key", kString), Part(6, "value", kLong)), R"({"k":9})"},
        Case{"MapAsRecords",
             R"({"type": "array", "logicalType": "map", "items":
                 {"type": "record", "name": "entry", "fields": [{"name": "key", "type": "int", "field-id": 5},
                 {"name": "value", "type": "string", "field-id": 6}]}})",
             [](E e) {
               e.WriteLong(1);
               e.WriteInt(3);
               e.WriteBytes("v");
               e.WriteLong(0);
             },
             Type::Map(Part(5, "key", kLong), Part(6, "value", kString)),
             R"([{"key":3,"value":"v"}])"},
        Case{"Struct",
             R"({"type": "record", "name": "named", "fields": [
                 {"name": "a", "type": "int", "field-id": 5},
                 {"name": "b", "type": ["null", "string"], "field-id": 6}]})",
             [](E e) {
               e.WriteInt(1);
               e.WriteLong(0);
             },
             Type::Struct({Part(6, "b", kString), Part(7, "c", kLong), Part(5, "a", kLong)}),
             R"({"b":null,"c":null,"a":1})"}),
    [](const auto& test) { return test.param.name; });

constexpr char kIdSchema[] = R"({"type": "record", "name": "table", "fields": [
    {"name": "id", "type": "long", "field-id": 1},
    {"name": "s", "type": ["null", "string"], "field-id": 2}]})";

std::vector<std::function<void(avro::Encoder)>> IdRecords(int count) {
  std::vector<std::function<void(avro::Encoder)>> records;
  for (int i = 0; i < count; ++i) {
    records.push_back([i](avro::Encoder out) {
      out.WriteLong(i);
      out.WriteLong(i % 2);
      if (i % 2 == 1) out.WriteBytes("s" + std::to_string(i));
    });
  }
  return records;
}

TEST(AvroSourceTest, PositionsRunOnOverBlocks) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "id", kLong}}), {MakeSpec(0, {})}));
  table.AddFile("f.avro", AvroBytes(kIdSchema, IdRecords(9), /*block_bytes=*/8), FileFormat::kAvro);
  table.DeleteVector("v.puffin", {0, 4, 8});
  EXPECT_THAT(table.Rows({.columns = {"_pos", "id"}}),
              IsOkAndHolds(ElementsAre("[1,1]", "[2,2]", "[3,3]", "[5,5]", "[6,6]", "[7,7]")));
  EXPECT_THAT(table.Rows({.columns = {"_pos"}, .limit = 2}),
              IsOkAndHolds(ElementsAre("[1]", "[2]")))
      << "no column of the file is needed";
}

TEST(AvroSourceTest, FilesWithoutIdsGoByName) {
  ReadTestTable table(MakeTable(MakeSchema({{2, "b", kLong}, {1, "a", kLong}}), {MakeSpec(0, {})}));
  const std::string schema =
      RecordOf(R"({"name": "a", "type": "long"}, {"name": "b", "type": "long"})");
  table.AddFile("f.avro", AvroBytes(schema, {[](avro::Encoder out) {
                                      out.WriteLong(1);
                                      out.WriteLong(2);
                                    }}),
                FileFormat::kAvro);
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[2,1]")));
}

TEST(AvroSourceTest, DamagedFilesNeverCrash) {
  const Bytes whole = AvroBytes(kIdSchema, IdRecords(60), 100);
  std::mt19937 rng(20240601);
  for (int round = 0; round < 1500; ++round) {
    Bytes damaged = whole;
    if (round % 2 == 0) {
      damaged.resize(rng() % whole.size());
    } else {
      damaged[rng() % whole.size()] = static_cast<char>(rng());
    }
    ReadTestTable table(
        MakeTable(MakeSchema({{1, "id", kLong}, {2, "s", kString}}), {MakeSpec(0, {})}));
    table.AddFile("damaged.avro", damaged, FileFormat::kAvro);
    RunContext run({.memory_limit_bytes = 64 << 20});
    const auto rows = table.Rows(run);
    if (!rows) {
      ASSERT_THAT(rows.error().message(), HasSubstr("damaged.avro"));
    }
    ASSERT_EQ(run.memory().used(), 0);
  }
}

TEST(OrcSourceTest, TimestampsBeyondNanosecondsAreRefused) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "ts", TypeId::kTimestamp}}), {MakeSpec(0, {})}));
  const arrow::FieldVector columns = {Col(0, "ts", arrow::timestamp(arrow::TimeUnit::MICRO))};
  table.AddFile("f.orc", OrcBytes(columns, R"([{"ts": -1}, {"ts": 1}])"), FileFormat::kOrc);
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"(["1969-12-31T23:59:59.999999"])",
                                                     R"(["1970-01-01T00:00:00.000001"])")));
  table.AddFile("far.orc", OrcBytes(columns, R"([{"ts": 32503680000000000}])"), FileFormat::kOrc);
  EXPECT_THAT(table.Rows(), HasError(Code::kUnsupported, HasSubstr("far.orc")));
}

TEST(OrcSourceTest, DamagedFilesNeverCrash) {
  const Bytes whole = OrcBytes({Col(0, "id", arrow::int64()), Col(0, "s", arrow::utf8())},
                               R"([{"id": 1, "s": "a"}, {"id": 2, "s": null}])");
  std::mt19937 rng(20240601);
  for (int round = 0; round < 400; ++round) {
    Bytes damaged = whole;
    if (round % 2 == 0) {
      damaged.resize(rng() % whole.size());
    } else {
      damaged[rng() % whole.size()] = static_cast<char>(rng());
    }
    ReadTestTable table(
        MakeTable(MakeSchema({{1, "id", kLong}, {2, "s", kString}}), {MakeSpec(0, {})}));
    table.AddFile("damaged.orc", damaged, FileFormat::kOrc);
    RunContext run({.memory_limit_bytes = 64 << 20});
    const auto rows = table.Rows(run);
    if (!rows) {
      ASSERT_THAT(rows.error().message(), HasSubstr("damaged.orc"));
    }
    ASSERT_EQ(run.memory().used(), 0);
  }
}

}  // namespace
}  // namespace icewright
