#include "maintain/staged_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

TEST(StagedChangesTest, ColumnsAndPartitionsOfAnEqualityDelete) {
  struct Case {
    const char* name;
    std::vector<int> ids;
    std::vector<std::pair<int, std::string>> spec;
    const char* refusal;  // null: it is taken
  };
  const Case cases[] = {
      {"global", {1}, {}, nullptr},
      {"key in another order", {2, 1}, {}, "has the columns id,cat"},
      {"fewer columns", {}, {}, "has the columns , but"},
      {"a dropped column", {1, 9}, {}, "has the columns id,field 9"},
      {"partitioned by the key", {1}, {{1, "bucket[4]"}}, nullptr},
      {"partitioned by another column", {1}, {{2, "identity"}}, "is partitioned by 'cat'"},
      {"by both", {1}, {{1, "identity"}, {2, "truncate[1]"}}, "is partitioned by 'cat'"},
      {"by a field that was dropped", {1}, {{2, "void"}}, nullptr},
  };
  for (const Case& c : cases) {
    const TableMetadata table =
        MakeTable(MakeSchema({{1, "id", TypeId::kLong}, {2, "cat", TypeId::kString}}),
                  {MakeSpec(0, c.spec)}, 3);
    DataFile file = MakeDataFile("memory:/t/data/e.parquet");
    file.content = FileContent::kEqualityDeletes;
    for (const int id : c.ids) file.equality_ids.push_back(FieldId{id});
    const Status status = CheckEqualityDelete(table, file, {FieldId{1}});
    if (c.refusal == nullptr) {
      EXPECT_THAT(status, IsOk()) << c.name;
    } else {
      EXPECT_THAT(status, HasError(Code::kUnsupported, HasSubstr(c.refusal))) << c.name;
      EXPECT_THAT(status, HasError(Code::kUnsupported, HasSubstr("e.parquet"))) << c.name;
    }
  }
  DataFile file = MakeDataFile("memory:/t/data/e.parquet");
  file.equality_ids = {FieldId{1}};
  file.spec_id = SpecId{7};
  const TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {MakeSpec(0, {})});
  EXPECT_THAT(CheckEqualityDelete(table, file, {FieldId{1}}),
              HasError(Code::kCorrupt, HasSubstr("unknown partition spec 7")));
}

}  // namespace
}  // namespace icewright
