#include "data/location_provider.h"

#include <string>

#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

struct Case {
  std::string name;
  Properties properties;
  std::string partition;
  std::string file;
  std::string want;
};

class LocationProviderTest : public ::testing::TestWithParam<Case> {};

TEST_P(LocationProviderTest, NamesNewFiles) {
  const Case& c = GetParam();
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {PartitionSpec{}});
  table.location = Location("s3://b/db/t");
  table.properties = c.properties;
  EXPECT_EQ(LocationProvider(table).NewDataLocation(c.partition, c.file).text(), c.want);
}

Properties Objects(Properties more = {}) {
  more["write.object-storage.enabled"] = "true";
  return more;
}

// The hash folders of "a" to "d" are those of Java's TestLocationProvider.
INSTANTIATE_TEST_SUITE_P(
    Table, LocationProviderTest,
    ::testing::Values(
        Case{"Plain", {}, "", "f.parquet", "s3://b/db/t/data/f.parquet"},
        Case{"Partitioned", {}, "p=1/q=x%2Fy", "f", "s3://b/db/t/data/p=1/q=x%2Fy/f"},
        Case{"DataPath", {{"write.data.path", "s3://c/d//"}}, "p=1", "f", "s3://c/d/p=1/f"},
        Case{"FolderStorage",
             {{"write.folder-storage.path", "s3://c/old"}},
             "",
             "f",
             "s3://c/old/f"},
        Case{"HashA", Objects(), "", "a", "s3://b/db/t/data/0101/0110/1001/10110010/a"},
        Case{"HashB", Objects(), "", "b", "s3://b/db/t/data/1110/0111/1110/00000011/b"},
        Case{"HashC", Objects(), "", "c", "s3://b/db/t/data/0010/1101/0110/01011111/c"},
        Case{"HashD", Objects(), "", "d", "s3://b/db/t/data/1001/0001/0100/01110011/d"},
        Case{"WithoutPartitionPaths",
             Objects({{"write.object-storage.partitioned-paths", "false"}}), "p=1", "a",
             "s3://b/db/t/data/0101/0110/1001/10110010-a"},
        Case{"OutsideTheTable", Objects({{"write.data.path", "s3://c/all"}}), "", "a",
             "s3://c/all/0101/0110/1001/10110010/db/t/a"},
        Case{"ObjectStoragePath", Objects({{"write.object-storage.path", "s3://b/db/t/o/"}}), "",
             "a", "s3://b/db/t/o/0101/0110/1001/10110010/a"}),
    [](const auto& test) { return test.param.name; });

TEST(LocationProviderTest, PartitionIsPartOfTheHash) {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {PartitionSpec{}});
  table.properties = Objects();
  const LocationProvider provider(table);
  const std::string one = provider.NewDataLocation("p=1", "a").text();
  const std::string two = provider.NewDataLocation("p=2", "a").text();
  EXPECT_NE(one.substr(0, one.find("p=")), two.substr(0, two.find("p=")));
  EXPECT_TRUE(one.ends_with("/p=1/a")) << one;
}

TEST(LocationProviderTest, TellsOfAForeignProvider) {
  TableMetadata table = MakeTable(MakeSchema({{1, "id", TypeId::kLong}}), {PartitionSpec{}});
  EXPECT_FALSE(LocationProvider(table).has_foreign_provider());
  table.properties["write.location-provider.impl"] = "com.example.Provider";
  EXPECT_TRUE(LocationProvider(table).has_foreign_provider());
}

TEST(FileNamesTest, CountUp) {
  FileNames names("op-1", FileFormat::kAvro);
  EXPECT_EQ(names.Next(0, 7), "00000-7-op-1-00001.avro");
  EXPECT_EQ(names.Next(12, 8), "00012-8-op-1-00002.avro");
  EXPECT_EQ(FileNames("x", FileFormat::kOrc).Next(0, 0), "00000-0-x-00001.orc");
  EXPECT_EQ(FileNames("x", FileFormat::kParquet).Next(0, 0), "00000-0-x-00001.parquet");
}

}  // namespace
}  // namespace icewright
