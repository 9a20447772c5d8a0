#include "icewright/output.h"

#include <gtest/gtest.h>

#include <sstream>

#include "codec/json.h"
#include "icewright/exit_code.h"
#include "icewright/progress_line.h"
#include "icewright/schema_text.h"
#include "testing/matchers.h"

namespace icewright::cli {
namespace {

using ::testing::HasSubstr;

TEST(TextTableTest, AlignsTextLeftAndNumbersRight) {
  TextTable table({"name", "rows"});
  table.AddRow({"a", "1,000"});
  table.AddRow({"größer", "7"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "name    rows\n"
            "a       1,000\n"
            "größer      7\n");
}

TEST(TextTableTest, ControlCharactersOfDataCannotBreakTheTerminal) {
  TextTable table({"v"});
  table.AddRow({"a\nb\x1b[2J\t"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "v\na\\nb\\x1b[2J\\t\n");
}

TEST(CsvTest, QuotesWhatNeedsIt) {
  EXPECT_EQ(CsvLine({"a", "b,c", "say \"x\"", "two\nlines", ""}),
            "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",");
}

TEST(ErrorJsonTest, NamesCodeMessageAndNextStep) {
  const Json json = ErrorJson(Error(Code::kConflict, "lost"));
  EXPECT_EQ(json["code"], "conflict");
  EXPECT_EQ(json["message"], "lost");
  EXPECT_EQ(json["next"], std::string(NextStep(Code::kConflict)));
}

TEST(ExitCodeTest, FollowsTheReaction) {
  EXPECT_EQ(ExitCodeFor(Code::kInvalidArgument), ExitCode::kUsage);
  EXPECT_EQ(ExitCodeFor(Code::kConflict), ExitCode::kConflict);
  EXPECT_EQ(ExitCodeFor(Code::kCommitUnknown), ExitCode::kCommitUnknown);
  EXPECT_EQ(ExitCodeFor(Code::kCancelled), ExitCode::kCancelled);
  EXPECT_EQ(ExitCodeFor(Code::kLockHeld), ExitCode::kLock);
  EXPECT_EQ(ExitCodeFor(Code::kLockLost), ExitCode::kLock);
  EXPECT_EQ(ExitCodeFor(Code::kExhausted), ExitCode::kOverBudget);
  EXPECT_EQ(ExitCodeFor(Code::kCorrupt), ExitCode::kCorruptOrUnsupported);
  EXPECT_EQ(ExitCodeFor(Code::kUnsupported), ExitCode::kCorruptOrUnsupported);
  EXPECT_EQ(ExitCodeFor(Code::kNotFound), ExitCode::kFailed);
}

TEST(ProgressLineTest, PaintsABarWhereTheTotalIsKnown) {
  EXPECT_EQ(ProgressLine::Paint({.phase = "rewrite", .unit = "files", .total = 400, .done = 100}),
            "rewrite  [#######-----------------------]  100 / 400 files");
  EXPECT_EQ(ProgressLine::Paint({.phase = "plan", .unit = "data files", .total = {}, .done = 1234}),
            "plan  1,234 data files");
  EXPECT_EQ(ProgressLine::Paint({.phase = "x", .unit = "y", .total = 0, .done = 0}),
            "x  [------------------------------]  0 / 0 y");
}

TEST(SchemaTextTest, ReadsColumnsAndIdentifiers) {
  IW_ASSERT_OK_AND_ASSIGN(const Schema schema,
                          ParseSchemaText("id:long!, price:decimal(9,2), name : string", {"id"}));
  ASSERT_EQ(schema.fields().size(), 3U);
  EXPECT_TRUE(schema.fields()[0].required);
  EXPECT_EQ(schema.fields()[1].type, Type::Decimal(9, 2));
  EXPECT_EQ(schema.fields()[2].name, "name");
  EXPECT_EQ(schema.fields()[2].id, FieldId{3});
  EXPECT_EQ(schema.identifier_field_ids(), std::vector<FieldId>{FieldId{1}});
}

TEST(SchemaTextTest, ErrorsNameTheColumn) {
  EXPECT_THAT(ParseSchemaText("id", {}), HasError(Code::kInvalidArgument, HasSubstr("'id'")));
  EXPECT_THAT(ParseSchemaText("id:number", {}),
              HasError(Code::kInvalidArgument, HasSubstr("number")));
  EXPECT_THAT(ParseSchemaText("", {}), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(ParseSchemaText("name:string", {"nme"}),
              HasError(Code::kInvalidArgument, "no column named 'nme'; did you mean 'name'?"));
  EXPECT_THAT(ParseSchemaText("{\"type\":", {}),
              HasError(Code::kInvalidArgument, HasSubstr("--schema: JSON is malformed at byte 9")));
}

TEST(PartitionTextTest, ReadsTransforms) {
  IW_ASSERT_OK_AND_ASSIGN(const Schema schema,
                          ParseSchemaText("id:long,ts:timestamptz,cat:string", {}));
  IW_ASSERT_OK_AND_ASSIGN(
      const PartitionSpec spec,
      ParsePartitionText(schema, "bucket(4, id), days(ts), truncate(2, cat), cat"));
  ASSERT_EQ(spec.fields.size(), 4U);
  EXPECT_EQ(spec.fields[0].transform, Transform::Bucket(4));
  EXPECT_EQ(spec.fields[0].name, "id_bucket");
  EXPECT_EQ(spec.fields[1].transform, Transform::Of(Transform::Kind::kDay));
  EXPECT_EQ(spec.fields[1].name, "ts_day");
  EXPECT_EQ(spec.fields[2].name, "cat_trunc");
  EXPECT_EQ(spec.fields[3].name, "cat");
  EXPECT_EQ(spec.fields[3].field_id, FieldId{1003});
  EXPECT_THAT(ParsePartitionText(schema, "hash(id)"),
              HasError(Code::kInvalidArgument, HasSubstr("no known transform")));
  EXPECT_THAT(ParsePartitionText(schema, "day(cat)"),
              HasError(Code::kInvalidArgument, HasSubstr("cannot take a string")));
  EXPECT_THAT(ParsePartitionText(schema, "nope"), HasCode(Code::kInvalidArgument));
}

}  // namespace
}  // namespace icewright::cli
