#include "manifest/data_file.h"

#include <unordered_set>

#include "table/schema.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointee;

TEST(DataFileTest, FormatsHaveOneSpellingAndAreReadInAnyCase) {
  for (const auto format :
       {FileFormat::kAvro, FileFormat::kParquet, FileFormat::kOrc, FileFormat::kPuffin}) {
    EXPECT_THAT(ParseFileFormat(Name(format)), IsOkAndHolds(format));
  }
  EXPECT_EQ(Name(FileFormat::kParquet), "PARQUET");
  EXPECT_THAT(ParseFileFormat("parQuet"), IsOkAndHolds(FileFormat::kParquet));
  EXPECT_THAT(ParseFileFormat("orc "), HasError(Code::kUnsupported, HasSubstr("'orc '")));
}

TEST(DataFileTest, ColumnsAreFoundById) {
  const ColumnCounts counts = {{FieldId{1}, 10}, {FieldId{5}, 50}};
  EXPECT_THAT(FindColumn(counts, FieldId{1}), Pointee(10));
  EXPECT_THAT(FindColumn(counts, FieldId{5}), Pointee(50));
  for (const int missing : {0, 2, 6}) EXPECT_EQ(FindColumn(counts, FieldId{missing}), nullptr);
  EXPECT_EQ(FindColumn(ColumnBounds{}, FieldId{1}), nullptr);
}

TEST(DataFileTest, DvsOfOnePuffinFileHaveKeysOfTheirOwn) {
  const DataFile a = MakeDv("p.puffin", MakeDataFile("a"), 4);
  const DataFile b = MakeDv("p.puffin", MakeDataFile("b"), 44);
  const std::unordered_set<ContentKey, ContentKeyHash> keys = {ContentKey::Of(a),
                                                               ContentKey::Of(b)};
  EXPECT_EQ(keys.size(), 2U);
  EXPECT_TRUE(keys.contains({Location("p.puffin"), 4, 40}));
  // A file that is no DV is its path, whatever else is set.
  EXPECT_EQ(ContentKey::Of(MakeDataFile("a", {.records = 1})),
            ContentKey::Of(MakeDataFile("a", {.records = 2})));
}

DataFile WithPathBounds(Bytes lower, Bytes upper) {
  DataFile file = MakePositionDeletes("d");
  file.lower_bounds = {{kDeleteFilePathField, std::move(lower)}};
  file.upper_bounds = {{kDeleteFilePathField, std::move(upper)}};
  return file;
}

TEST(DataFileTest, AScopeOfOneFileShowsInBoundsOrReference) {
  EXPECT_EQ(ReferencedDataFile(MakePositionDeletes("d")), std::nullopt);
  EXPECT_EQ(ReferencedDataFile(WithPathBounds("a", "a")), Location("a"));
  EXPECT_EQ(ReferencedDataFile(WithPathBounds("a", "b")), std::nullopt);
  EXPECT_EQ(ReferencedDataFile(WithPathBounds("", "")), std::nullopt);
  DataFile referenced = WithPathBounds("a", "b");
  referenced.referenced_data_file = Location("c");
  EXPECT_EQ(ReferencedDataFile(referenced), Location("c"));
  DataFile lower_only = WithPathBounds("a", "a");
  lower_only.upper_bounds.clear();
  EXPECT_EQ(ReferencedDataFile(lower_only), std::nullopt);
  DataFile equality = WithPathBounds("a", "a");
  equality.content = FileContent::kEqualityDeletes;
  EXPECT_EQ(ReferencedDataFile(equality), std::nullopt);
}

TEST(DataFileTest, DropMetricsKeepsWhatAPlanNeeds) {
  DataFile file = WithPathBounds("a", "a");
  file.column_sizes = file.value_counts = file.null_value_counts =
      file.nan_value_counts = {{FieldId{1}, 1}};
  file.split_offsets = {4};
  file.DropMetrics();
  DataFile expected = MakePositionDeletes("d");
  expected.split_offsets = {4};
  EXPECT_EQ(file, expected);
}

}  // namespace
}  // namespace icewright
