// Position deletes, deletion vectors and equality deletes, through the reader that applies them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/arrow_schema.h"
#include "data/read_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Type kLong = Type::Of(TypeId::kLong);

TableMetadata TableOf(const std::vector<TestColumn>& columns) {
  return MakeTable(MakeSchema(columns), {MakeSpec(0, {})});
}

/// {"id": first} ... {"id": last}
std::string Ids(int first, int last) {
  std::string out = "[";
  for (int i = first; i <= last; ++i)
    out += (i > first ? "," : "") + ("{\"id\": " + std::to_string(i)) + "}";
  return out + "]";
}

class IdTable : public ReadTestTable {
 public:
  IdTable() : ReadTestTable(TableOf({{1, "id", TypeId::kLong}})) {}
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64())};
};

// ---- positions

TEST(PositionDeletesTest, CountFromTheStartOfTheFileOverRowGroups) {
  IdTable table;
  table.AddData("f.parquet", table.columns, {Ids(0, 3), Ids(4, 7), Ids(8, 11)});
  table.DeletePositions("d.parquet", {{"f.parquet", 0}, {"f.parquet", 5}, {"f.parquet", 9}});
  EXPECT_THAT(table.Rows({.columns = {"id", "_pos"}}),
              IsOkAndHolds(ElementsAre("[1,1]", "[2,2]", "[3,3]", "[4,4]", "[6,6]", "[7,7]",
                                       "[8,8]", "[10,10]", "[11,11]")));
}

TEST(PositionDeletesTest, OneFileSplitsByDataFileAndMergesWithOthers) {
  IdTable table;
  table.AddData("a.parquet", table.columns, {Ids(0, 3)});
  table.AddData("b.parquet", table.columns, {Ids(10, 13)});
  table.DeletePositions("d1.parquet", {{"a.parquet", 1}, {"b.parquet", 0}, {"b.parquet", 3}});
  table.DeletePositions("d2.parquet", {{"a.parquet", 2}, {"gone.parquet", 0}, {"a.parquet", 1}});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[0]", "[3]", "[11]", "[12]")));
}

TEST(PositionDeletesTest, DeletionVector) {
  IdTable table;
  table.AddData("f.parquet", table.columns, {Ids(0, 5)});
  table.DeleteVector("v.parquet", {0, 2, 3, 100});  // the name says nothing
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[1]", "[4]", "[5]")));
}

TEST(PositionDeletesTest, WholeBatchesCanGo) {
  IdTable table;
  table.AddData("f.parquet", table.columns, {Ids(0, 3), Ids(4, 7)});
  table.DeleteVector("v.puffin", {0, 1, 2, 3, 7});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[4]", "[5]", "[6]")));
  table.DeleteVector("all.puffin", {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(IsEmpty()));
}

TEST(PositionDeletesTest, BrokenVectorsAreNamed) {
  struct Case {
    const char* name;
    void (*change)(DataFile&);
  };
  const Case cases[] = {
      {"wrong cardinality", [](DataFile& f) { f.record_count += 1; }},
      {"no offset", [](DataFile& f) { f.content_offset.reset(); }},
      {"no size", [](DataFile& f) { f.content_size_in_bytes.reset(); }},
      {"negative offset", [](DataFile& f) { f.content_offset = -4; }},
      {"empty", [](DataFile& f) { f.content_size_in_bytes = 0; }},
      {"too short", [](DataFile& f) { *f.content_size_in_bytes -= 1; }},
      {"past the end", [](DataFile& f) { f.content_size_in_bytes = 1'000'000; }},
      {"huge", [](DataFile& f) { f.content_size_in_bytes = std::int64_t{1} << 62; }},
      {"elsewhere", [](DataFile& f) { *f.content_offset += 1; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    IdTable table;
    table.AddData("f.parquet", table.columns, {Ids(0, 3)});
    table.DeleteVector("v.puffin", {1});
    auto changed = std::make_shared<DeleteTask>(*table.tasks()[0].deletes[0]);
    c.change(changed->file);
    table.tasks()[0].deletes = {changed};
    EXPECT_THAT(table.Rows(), HasError(Code::kCorrupt, HasSubstr("v.puffin")));
  }
}

TEST(PositionDeletesTest, RefusesNegativePositionsAndMissingColumns) {
  IdTable table;
  table.AddData("f.parquet", table.columns, {Ids(0, 3)});
  table.DeletePositions("d.parquet", {{"f.parquet", -1}});
  EXPECT_THAT(table.Rows(), HasError(Code::kCorrupt, HasSubstr("d.parquet")));

  IdTable other;
  other.AddData("f.parquet", other.columns, {Ids(0, 3)});
  other.DeleteKeys("keys.parquet", other.columns, Ids(1, 1), {1});
  auto wrong = std::make_shared<DeleteTask>(*other.tasks()[0].deletes[0]);
  wrong->file.content = FileContent::kPositionDeletes;
  other.tasks()[0].deletes = {wrong};
  EXPECT_THAT(other.Rows(), HasError(Code::kCorrupt, HasSubstr("file_path")));
}

// ---- keys

TEST(EqualityDeletesTest, OnlyNewerDeletesApply) {
  IdTable table;
  table.AddData("old.parquet", table.columns, {Ids(1, 4)}).sequence_number = SequenceNumber{1};
  table.AddData("same.parquet", table.columns, {Ids(1, 4)}).sequence_number = SequenceNumber{3};
  table.DeleteKeys("d2.parquet", table.columns, Ids(1, 2), {1}, 2);
  table.DeleteKeys("d3.parquet", table.columns, Ids(2, 3), {1}, 3);
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[4]", "[1]", "[2]", "[3]", "[4]")));
}

TEST(EqualityDeletesTest, KeyColumnsOutsideTheProjectionAreReadAndDropped) {
  ReadTestTable table(TableOf({{1, "id", TypeId::kLong}, {2, "s", TypeId::kString}}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "s", arrow::utf8())};
  table.AddData("f.parquet", columns,
                {R"([{"id": 1, "s": "x"}, {"id": 2, "s": null}, {"id": 3, "s": "y"}])"});
  table.DeleteKeys("d.parquet", {columns[1]}, R"([{"s": "x"}])", {2});
  EXPECT_THAT(table.Rows({.columns = {"id"}}), IsOkAndHolds(ElementsAre("[2]", "[3]")));
}

TEST(EqualityDeletesTest, NonNullKeysLeaveNullsAlone) {
  ReadTestTable table(TableOf({{1, "id", TypeId::kLong}, {2, "s", TypeId::kString}}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "s", arrow::utf8())};
  table.AddData("before.parquet", {columns[0]}, {Ids(9, 9)});  // older than the column
  table.AddData("f.parquet", columns,
                {R"([{"id": 1, "s": "x"}, {"id": 2, "s": null}, {"id": 3, "s": "y"}])"});
  table.DeleteKeys("d.parquet", {columns[1]}, R"([{"s": "x"}])", {2});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[9,null]", "[2,null]", R"([3,"y"])")));
}

TEST(EqualityDeletesTest, NullMatchesNull) {
  ReadTestTable table(
      TableOf({{1, "id", TypeId::kLong}, {2, "c", TypeId::kString}, {3, "v", TypeId::kString}}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "c", arrow::utf8()),
                                      Col(3, "v", arrow::utf8())};
  table.AddData("f.parquet", columns,
                {R"([{"id": 1, "c": null, "v": "p"}, {"id": 2, "c": null, "v": "q"},
                     {"id": 3, "c": "t", "v": "r"}])"});
  table.DeleteKeys("d.parquet", {columns[0], columns[1]}, R"([{"id": 1, "c": null}])", {1, 2});
  EXPECT_THAT(table.Rows({.columns = {"id"}}), IsOkAndHolds(ElementsAre("[2]", "[3]")));
}

TEST(EqualityDeletesTest, NullIntegerKeysHaveSequenceNumbersToo) {
  IdTable table;
  table.AddData("old.parquet", table.columns, {R"([{"id": null}, {"id": 0}])"});
  table.AddData("new.parquet", table.columns, {R"([{"id": null}, {"id": 0}])"}).sequence_number =
      SequenceNumber{2};
  table.DeleteKeys("d.parquet", table.columns, R"([{"id": null}])", {1}, 2);
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[0]", "[null]", "[0]")));
}

struct KeyCase {
  std::string name;
  Type type;
  std::shared_ptr<arrow::DataType> stored;
  std::string data;     // values of three rows
  std::string deleted;  // keys
  std::string expected;
  friend void PrintTo(const KeyCase& c, std::ostream* os) { *os << c.name; }
};

class KeyTypeTest : public ::testing::TestWithParam<KeyCase> {};

std::string Objects(const std::string& values) {
  Json rows = Json::array();
  const Json parsed = ParseJson(values).value();
  for (const Json& value : parsed) rows.push_back(Json{{"k", value}});
  return DumpJson(rows);
}

TEST_P(KeyTypeTest, KeysAreEqualByValue) {
  const KeyCase& c = GetParam();
  ReadTestTable table(TableOf({{1, "k", c.type}}));
  table.AddData("f.parquet", {Col(1, "k", c.stored)}, {Objects(c.data)});
  table.DeleteKeys("d.parquet", {Col(1, "k", ToArrowType(c.type).value())}, Objects(c.deleted),
                   {1});
  IW_ASSERT_OK_AND_ASSIGN(const auto rows, table.Rows());
  std::string text;
  for (const std::string& row : rows) text += row;
  EXPECT_EQ(text, c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, KeyTypeTest,
    ::testing::Values(
        KeyCase{"Boolean", Type::Of(TypeId::kBoolean), arrow::boolean(), "[true, false, null]",
                "[true]", "[false][null]"},
        KeyCase{"PromotedInt", kLong, arrow::int32(), "[1, 2, -3]", "[2, -3]", "[1]"},
        KeyCase{"Int", Type::Of(TypeId::kInt), arrow::int32(), "[1, -1, 2]", "[-1]", "[1][2]"},
        KeyCase{"PromotedFloat", Type::Of(TypeId::kDouble), arrow::float32(), "[0.5, 1.5, 2.5]",
                "[1.5]", "[0.5][2.5]"},
        KeyCase{"MinusZeroIsNotZero", Type::Of(TypeId::kDouble), arrow::float64(), "[0.0, -0.0, 1]",
                "[-0.0]", "[0.0][1.0]"},
        KeyCase{"Decimal", Type::Decimal(20, 2), arrow::decimal128(9, 2),
                R"(["1.50", "-1.50", "0.00"])", R"(["-1.50"])", R"(["1.50"]["0.00"])"},
        KeyCase{"Date", Type::Of(TypeId::kDate), arrow::date32(), "[0, -1, 1]", "[-1]",
                R"(["1970-01-01"]["1970-01-02"])"},
        KeyCase{"DateAsTimestamp", Type::Of(TypeId::kTimestamp), arrow::date32(), "[0, 1, 2]",
                "[86400000000]", R"(["1970-01-01T00:00:00"]["1970-01-03T00:00:00"])"},
        KeyCase{"String", Type::Of(TypeId::kString), arrow::utf8(), R"(["", "a", null])", R"([""])",
                R"(["a"][null])"},
        KeyCase{"Fixed", Type::Fixed(2), arrow::fixed_size_binary(2), R"(["ab", "cd", null])",
                R"(["cd", null])", R"(["6162"])"},
        KeyCase{"Binary", Type::Of(TypeId::kBinary), arrow::binary(), R"(["a", "ab", "b"])",
                R"(["a", "b"])", R"(["6162"])"}),
    [](const auto& test) { return test.param.name; });

TEST(EqualityDeletesTest, NanIsEqualToEveryNan) {
  ReadTestTable table(TableOf({{1, "k", Type::Of(TypeId::kDouble)}}));
  const arrow::FieldVector columns = {Col(1, "k", arrow::float64())};
  table.AddData("f.parquet", columns, {R"([{"k": NaN}, {"k": 1.0}, {"k": -NaN}])"});
  table.DeleteKeys("d.parquet", columns, R"([{"k": NaN}])", {1});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[1.0]")));
}

TEST(EqualityDeletesTest, NestedKeys) {
  const Type point = Type::Struct({{.id = FieldId{2}, .name = "x", .type = kLong},
                                   {.id = FieldId{3}, .name = "y", .type = kLong}});
  ReadTestTable table(TableOf({{1, "p", point}}));
  const auto stored = arrow::struct_({Col(2, "x", arrow::int64()), Col(3, "y", arrow::int64())});
  table.AddData("f.parquet", {Col(1, "p", stored)},
                {R"([{"p": {"x": 1, "y": 2}}, {"p": null}, {"p": {"x": null, "y": 3}},
                     {"p": {"x": 4, "y": 2}}])"});
  const auto y_only = arrow::struct_({Col(3, "y", arrow::int64())});
  table.DeleteKeys("d.parquet", {Col(1, "p", y_only)}, R"([{"p": {"y": 2}}, {"p": null}])", {3});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([{"x":null,"y":3}])")));
}

TEST(EqualityDeletesTest, KeysOfADroppedColumnStillApply) {
  TableMetadata metadata = TableOf({{1, "id", TypeId::kLong}});
  metadata.schemas.push_back(
      MakeSchema({{1, "id", TypeId::kLong}, {2, "gone", TypeId::kInt}}, /*schema_id=*/7));
  ReadTestTable table(metadata);
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "gone", arrow::int32())};
  table.AddData("f.parquet", columns, {R"([{"id": 1, "gone": 10}, {"id": 2, "gone": 20}])"});
  table.DeleteKeys("d.parquet", {columns[1]}, R"([{"gone": 20}])", {2});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre("[1]")));
}

TEST(EqualityDeletesTest, GroupsOfDifferentKeysAddUp) {
  ReadTestTable table(TableOf({{1, "id", TypeId::kLong}, {2, "s", TypeId::kString}}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64()), Col(2, "s", arrow::utf8())};
  table.AddData("f.parquet", columns,
                {R"([{"id": 1, "s": "x"}, {"id": 2, "s": "y"}, {"id": 3, "s": "z"},
                     {"id": 4, "s": "z"}])"});
  table.DeleteKeys("by_id.parquet", {columns[0]}, Ids(1, 1), {1});
  table.DeleteKeys("by_s.parquet", {columns[1]}, R"([{"s": "y"}])", {2});
  table.DeleteKeys("by_both.parquet", columns, R"([{"id": 3, "s": "z"}, {"id": 4, "s": "x"}])",
                   {2, 1});
  table.DeleteVector("v.puffin", {1});
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([4,"z"])")));
}

TEST(EqualityDeletesTest, PartitionsKeepTheirOwnKeys) {
  ReadTestTable table(MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}}),
                                {MakeSpec(0, {{2, "identity"}})}));
  const arrow::FieldVector columns = {Col(1, "id", arrow::int64())};
  for (const std::string cat : {"a", "b"}) {
    FileTask& task = table.AddData(cat + ".parquet", columns, {Ids(1, 2)});
    task.data_file.partition = {cat};
  }
  // A delete of partition "a", named by the task of its partition only, as planning does.
  table.DeleteKeys("d.parquet", columns, Ids(1, 1), {1});
  auto deletes = std::make_shared<DeleteTask>(*table.tasks()[0].deletes[0]);
  deletes->file.partition = {std::string("a")};
  table.tasks()[0].deletes = {deletes};
  table.tasks()[1].deletes = {};
  EXPECT_THAT(table.Rows(), IsOkAndHolds(ElementsAre(R"([2,"a"])", R"([1,"b"])", R"([2,"b"])")));
}

TEST(EqualityDeletesTest, RefusesWhatIsNoKey) {
  struct Case {
    std::vector<int> ids;
    Code code;
  };
  const Type list = Type::List({.id = FieldId{3}, .name = "element", .type = kLong});
  for (const Case& c :
       {Case{{}, Code::kCorrupt}, Case{{99}, Code::kCorrupt}, Case{{2}, Code::kUnsupported},
        Case{{3}, Code::kUnsupported}, Case{{4}, Code::kCorrupt}}) {
    ReadTestTable table(TableOf({{1, "id", TypeId::kLong}, {2, "l", list}, {4, "z", kLong}}));
    const arrow::FieldVector columns = {Col(1, "id", arrow::int64())};
    table.AddData("f.parquet", columns, {Ids(1, 2)});
    table.DeleteKeys("d.parquet", columns, Ids(1, 1), c.ids);  // column 4 is not in the delete file
    EXPECT_THAT(table.Rows(), HasError(c.code, HasSubstr("d.parquet")));
  }
}

}  // namespace
}  // namespace icewright
