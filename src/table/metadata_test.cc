#include "table/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/compression.h"
#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr std::string_view kV3 =
    R"({"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)"
    R"("location":"s3://b/t","last-sequence-number":2,"last-updated-ms":2000,"last-column-id":2,)"
    R"("current-schema-id":1,"schemas":[)"
    R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":true,"type":"long"}]},)"
    R"({"type":"struct","schema-id":1,"identifier-field-ids":[1],"fields":[)"
    R"({"id":1,"name":"x","required":true,"type":"long"},)"
    R"({"id":2,"name":"y","required":false,"type":"timestamp_ns"}]}],)"
    R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[)"
    R"({"name":"x_bucket","transform":"bucket[8]","source-id":1,"field-id":1000}]}],)"
    R"("last-partition-id":1000,"default-sort-order-id":1,"sort-orders":[{"order-id":1,"fields":[)"
    R"({"transform":"identity","source-id":1,"direction":"asc","null-order":"nulls-first"}]}],)"
    R"("properties":{"a":"1","b":"two"},"current-snapshot-id":12,"next-row-id":30,)"
    R"("encryption-keys":[{"key-id":"k","encrypted-key-metadata":"AA=="}],)"
    R"("refs":{"main":{"snapshot-id":12,"type":"branch"},)"
    R"("t":{"snapshot-id":11,"type":"tag","max-ref-age-ms":9223372036854775807,"note":"n"}},)"
    R"("snapshots":[)"
    R"({"sequence-number":1,"snapshot-id":11,"timestamp-ms":1000,)"
    R"("summary":{"operation":"append","z":"1","a":"2"},"manifest-list":"s3://b/t/1.avro",)"
    R"("schema-id":0,"first-row-id":0,"added-rows":10},)"
    R"({"sequence-number":2,"snapshot-id":12,"parent-snapshot-id":11,"timestamp-ms":2000,)"
    R"("summary":{"operation":"overwrite"},"manifest-list":"s3://b/t/2.avro","schema-id":1,)"
    R"("first-row-id":10,"added-rows":20,"key-id":"k","novel":{"deep":[1,null]}}],)"
    R"("statistics":[{"snapshot-id":11,"statistics-path":"s3://b/t/s.puffin",)"
    R"("file-size-in-bytes":413,"file-footer-size-in-bytes":42,"blob-metadata":[)"
    R"({"type":"ndv","snapshot-id":11,"sequence-number":1,"fields":[1],"properties":{"ndv":"5"}}],)"
    R"("key-metadata":"QQ=="}],)"
    R"("partition-statistics":[{"snapshot-id":11,"statistics-path":"s3://b/t/p.parquet",)"
    R"("file-size-in-bytes":43,"later":true}],)"
    R"("snapshot-log":[{"timestamp-ms":1000,"snapshot-id":11},{"timestamp-ms":2000,"snapshot-id":12}],)"
    R"("metadata-log":[{"timestamp-ms":1000,"metadata-file":"s3://b/t/v1.metadata.json"}],)"
    R"("some-new-thing":{"k":[1,2]}})";

constexpr std::string_view kV1 = R"({"format-version":1,"location":"/t/","last-updated-ms":5,
  "last-column-id":1,"schema":{"type":"struct","fields":[
    {"id":1,"name":"x","required":true,"type":"long"}]},
  "partition-spec":[{"name":"x","transform":"identity","source-id":1}],
  "snapshots":[{"snapshot-id":7,"timestamp-ms":5,"manifests":["/t/m1.avro","/t/m2.avro"]}],
  "current-snapshot-id":7})";

TableMetadata Parse(std::string_view text) {
  auto metadata = ParseTableMetadata(text, "v1.metadata.json");
  EXPECT_THAT(metadata, IsOk());
  return metadata ? *metadata : TableMetadata();
}

std::string Replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  EXPECT_NE(out.find(what), std::string::npos) << what;
  out.replace(out.find(what), what.size(), by);
  return out;
}

TEST(MetadataTest, Version3IsReadAndWrittenBackByteForByte) {
  EXPECT_EQ(SerializeTableMetadata(Parse(kV3)), kV3);
}

TEST(MetadataTest, EveryMemberIsRead) {
  const TableMetadata t = Parse(kV3);
  EXPECT_EQ(t.format_version, 3);
  EXPECT_EQ(t.table_uuid, "9c12d441-03fe-4693-9a96-a0705ddf69c1");
  EXPECT_EQ(t.location, Location("s3://b/t"));
  EXPECT_EQ(t.last_sequence_number, SequenceNumber{2});
  EXPECT_EQ(t.last_updated, FromMillis(2000));
  EXPECT_EQ(t.last_column_id, 2);
  EXPECT_EQ(t.schema().fields().size(), 2U);
  EXPECT_EQ(t.default_spec().fields[0].transform, Transform::Bucket(8));
  EXPECT_EQ(t.last_partition_id, 1000);
  EXPECT_EQ(t.default_sort_order().fields.size(), 1U);
  EXPECT_THAT(t.properties, ElementsAre(Pair("a", "1"), Pair("b", "two")));
  EXPECT_EQ(t.next_row_id, 30);
  EXPECT_TRUE(t.is_encrypted());
  ASSERT_NE(t.current_snapshot(), nullptr);
  EXPECT_EQ(t.current_snapshot()->id, SnapshotId{12});
  EXPECT_EQ(t.current_snapshot()->parent_id, SnapshotId{11});
  EXPECT_EQ(t.current_snapshot()->key_id, "k");
  EXPECT_EQ(t.current_snapshot()->added_rows, 20);
  EXPECT_EQ(t.snapshots[0].operation, "append");
  EXPECT_THAT(t.snapshots[0].summary, ElementsAre(Pair("z", "1"), Pair("a", "2")));
  EXPECT_EQ(*FindKey(t.snapshots[0].summary, "a"), "2");
  EXPECT_EQ(FindKey(t.snapshots[0].summary, "operation"), nullptr);
  EXPECT_EQ(t.FindRef("t"), &t.snapshots[0]);
  EXPECT_EQ(t.FindRef("nope"), nullptr);
  EXPECT_EQ(t.refs.at("t").kind, SnapshotRef::Kind::kTag);
  EXPECT_EQ(&t.SchemaOf(t.snapshots[0]), &t.schemas[0]);
  EXPECT_EQ(t.statistics[0].blob_metadata[0].properties.at("ndv"), "5");
  EXPECT_EQ(t.partition_statistics[0].file_size_in_bytes, 43);
  EXPECT_EQ(t.snapshot_log[1], (SnapshotLogEntry{FromMillis(2000), SnapshotId{12}}));
  EXPECT_EQ(t.metadata_log[0].metadata_file, Location("s3://b/t/v1.metadata.json"));
  EXPECT_EQ(t.Property("b"), "two");
  EXPECT_EQ(t.Property("c"), std::nullopt);
}

TEST(MetadataTest, OldestVersion1GetsWhatItLacks) {
  const TableMetadata t = Parse(kV1);
  EXPECT_EQ(t.table_uuid, "");
  EXPECT_EQ(t.location, Location("/t"));
  EXPECT_EQ(t.last_sequence_number, SequenceNumber{0});
  EXPECT_EQ(t.schema().id(), SchemaId{0});
  EXPECT_EQ(t.default_spec().fields[0].field_id, FieldId{1000});
  EXPECT_EQ(t.last_partition_id, 1000);
  EXPECT_EQ(t.default_sort_order(), SortOrder());
  EXPECT_EQ(t.refs.at("main").snapshot_id, SnapshotId{7});
  EXPECT_THAT(t.snapshots[0].v1_manifests,
              ElementsAre(Location("/t/m1.avro"), Location("/t/m2.avro")));
  EXPECT_EQ(t.snapshots[0].operation, std::nullopt);
  EXPECT_EQ(&t.SchemaOf(t.snapshots[0]), &t.schema());
}

TEST(MetadataTest, Version1KeepsWritingWhatOldReadersLookFor) {
  constexpr std::string_view kWritten =
      R"({"format-version":1,"location":"/t","last-updated-ms":5,"last-column-id":1,)"
      R"("schema":{"type":"struct","schema-id":0,"fields":[)"
      R"({"id":1,"name":"x","required":true,"type":"long"}]},"current-schema-id":0,"schemas":[)"
      R"({"type":"struct","schema-id":0,"fields":[)"
      R"({"id":1,"name":"x","required":true,"type":"long"}]}],"partition-spec":[)"
      R"({"name":"x","transform":"identity","source-id":1,"field-id":1000}],"default-spec-id":0,)"
      R"("partition-specs":[{"spec-id":0,"fields":[)"
      R"({"name":"x","transform":"identity","source-id":1,"field-id":1000}]}],)"
      R"("last-partition-id":1000,"default-sort-order-id":0,)"
      R"("sort-orders":[{"order-id":0,"fields":[]}],"properties":{},"current-snapshot-id":7,)"
      R"("refs":{"main":{"snapshot-id":7,"type":"branch"}},"snapshots":[)"
      R"({"snapshot-id":7,"timestamp-ms":5,"manifests":["/t/m1.avro","/t/m2.avro"]}],)"
      R"("statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]})";
  EXPECT_EQ(SerializeTableMetadata(Parse(kV1)), kWritten);
  EXPECT_EQ(SerializeTableMetadata(Parse(kWritten)), kWritten);
}

TEST(MetadataTest, NoCurrentSnapshotIsMinusOneBeforeVersion3AndNullThere) {
  for (const auto& [version, written] :
       std::vector<std::pair<std::string, std::string>>{{"1", "-1"}, {"2", "-1"}, {"3", "null"}}) {
    for (const std::string member :
         {"", "\"current-snapshot-id\":-1,", "\"current-snapshot-id\":null,"}) {
      const TableMetadata t =
          Parse(R"({"format-version":)" + version + "," + member +
                R"("table-uuid":"u","location":"/t","last-sequence-number":0,"last-updated-ms":5,
             "last-column-id":0,"current-schema-id":0,"schemas":[{"schema-id":0,"fields":[]}],
             "default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],
             "last-partition-id":999,"default-sort-order-id":0,"sort-orders":[],"next-row-id":0})");
      EXPECT_EQ(t.current_snapshot_id, std::nullopt);
      EXPECT_EQ(t.current_snapshot(), nullptr);
      EXPECT_TRUE(t.refs.empty());
      EXPECT_EQ(t.sort_orders, std::vector<SortOrder>{SortOrder()});
      EXPECT_THAT(SerializeTableMetadata(t), HasSubstr("\"current-snapshot-id\":" + written + ","));
    }
  }
}

TEST(MetadataTest, GzipIsFoundByItsMagic) {
  IW_ASSERT_OK_AND_ASSIGN(const Bytes packed, Compress(Compression::kGzip, kV3));
  IW_ASSERT_OK_AND_ASSIGN(const TableMetadata t, ParseTableMetadata(packed, "plain name"));
  EXPECT_EQ(SerializeTableMetadata(t), kV3);
  EXPECT_THAT(ParseTableMetadata(std::string_view(packed).substr(0, packed.size() / 2), "half.gz"),
              HasError(Code::kCorrupt, HasSubstr("half.gz")));
}

TEST(MetadataTest, GzipBombIsRefused) {
  const Bytes zeros(std::size_t{64} << 20, ' ');
  IW_ASSERT_OK_AND_ASSIGN(const Bytes packed, Compress(Compression::kGzip, zeros));
  ASSERT_LT(packed.size(), std::size_t{200} << 10);
  EXPECT_THAT(ParseTableMetadata(packed, "bomb.gz"),
              HasError(Code::kCorrupt, HasSubstr("bomb.gz")));
}

TEST(MetadataTest, OddSpellingsOfOtherWritersAreAccepted) {
  const TableMetadata t = Parse(Replaced(
      Replaced(kV3, R"("properties":{"a":"1","b":"two"})", R"("properties":{"a":1,"b":true})"),
      R"("snapshot-id":11,"timestamp-ms")",
      R"("snapshot-id":11,"parent-snapshot-id":-1,"timestamp-ms")"));
  EXPECT_THAT(t.properties, ElementsAre(Pair("a", "1"), Pair("b", "true")));
  EXPECT_EQ(t.snapshots[0].parent_id, std::nullopt);
}

TEST(MetadataTest, RefToAMissingSnapshotIsReadAndFindsNothing) {
  const TableMetadata t =
      Parse(Replaced(kV3, R"("t":{"snapshot-id":11)", R"("t":{"snapshot-id":99)"));
  EXPECT_EQ(t.refs.at("t").snapshot_id, SnapshotId{99});
  EXPECT_EQ(t.FindRef("t"), nullptr);
}

struct BadCase {
  std::string what;
  std::string by;
  std::vector<std::string> says;
  Code code = Code::kCorrupt;
};

TEST(MetadataTest, MalformedFileIsNamedWithTheMember) {
  const std::vector<BadCase> cases = {
      {R"("format-version":3,)", "", {"format-version"}},
      {R"("format-version":3)", R"("format-version":"3")", {"format-version"}},
      {R"("format-version":3)", R"("format-version":0)", {"format-version: 0"}},
      {R"("format-version":3)", R"("format-version":4)", {"format-version 4"}, Code::kUnsupported},
      {R"("table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",)", "", {"table-uuid: missing"}},
      {R"("location":"s3://b/t",)", "", {"location"}},
      {R"("last-sequence-number":2,)", "", {"last-sequence-number"}},
      {R"("last-updated-ms":2000,)", "", {"last-updated-ms"}},
      {R"("last-column-id":2,)", "", {"last-column-id"}},
      {R"("current-schema-id":1,)", "", {"current-schema-id"}},
      {R"("current-schema-id":1)", R"("current-schema-id":5)", {"current-schema-id", "5"}},
      {R"("schemas":[)", R"("schemas":[1,)", {"schemas[0]"}},
      {R"("type":"long"}]},{"type)", R"("type":"long"},4]},{"type)", {"schemas[0]", "fields[1]"}},
      {R"("schemas":)", R"("chemas":)", {"schemas: missing"}},
      {R"("partition-specs":)", R"("artition-specs":)", {"partition-specs: missing"}},
      {R"("default-spec-id":0)", R"("default-spec-id":3)", {"default-spec-id", "3"}},
      {R"("last-partition-id":1000,)", "", {"last-partition-id: missing"}},
      {R"("default-sort-order-id":1,)", "", {"default-sort-order-id: missing"}},
      {R"("default-sort-order-id":1)",
       R"("default-sort-order-id":2)",
       {"default-sort-order-id", "2"}},
      {R"({"a":"1","b":"two"})", R"({"a":[]})", {"properties.a"}},
      {R"({"a":"1","b":"two"})", "[]", {"properties"}},
      {R"("current-snapshot-id":12)", R"("current-snapshot-id":13)", {"current-snapshot-id", "13"}},
      {R"("current-snapshot-id":12)", R"("current-snapshot-id":11)", {"refs.main"}},
      {R"("current-snapshot-id":12)", R"("current-snapshot-id":-1)", {"refs.main"}},
      {R"("next-row-id":30,)", "", {"next-row-id"}},
      {R"("type":"tag")", R"("type":"twig")", {"refs.t", "type", "twig"}},
      {R"("snapshot-id":12,"parent)",
       R"("snapshot-id":11,"parent)",
       {"snapshots", "11 occurs twice"}},
      {R"("timestamp-ms":1000,"summary")", R"("summary")", {"snapshots[0]", "timestamp-ms"}},
      {R"("manifest-list":"s3://b/t/1.avro",)", "", {"snapshots[0]", "manifest-list"}},
      {R"("z":"1")", R"("z":{})", {"snapshots[0]", "summary.z"}},
      {R"("statistics":[)", R"("statistics":[null,)", {"statistics[0]"}},
      {R"("file-footer-size-in-bytes":42,)", "", {"statistics[0]", "file-footer-size-in-bytes"}},
      {R"("fields":[1],"prop)", R"("fields":["a"],"prop)", {"blob-metadata[0]", "fields"}},
      {R"("file-size-in-bytes":43,)", "", {"partition-statistics[0]", "file-size-in-bytes"}},
      {R"("snapshot-log":[)", R"("snapshot-log":[{},)", {"snapshot-log[0]", "timestamp-ms"}},
      {R"("metadata-log":[)", R"("metadata-log":[7,)", {"metadata-log[0]"}},
      {R"("encryption-keys":[)", R"("encryption-keys":{},"x":[)", {"encryption-keys"}},
  };
  for (const BadCase& c : cases) {
    SCOPED_TRACE(c.what + " -> " + c.by);
    const auto t = ParseTableMetadata(Replaced(kV3, c.what, c.by), "00007-x.metadata.json");
    EXPECT_THAT(t, HasError(c.code, HasSubstr("00007-x.metadata.json")));
    for (const std::string& part : c.says) EXPECT_THAT(t, HasError(c.code, HasSubstr(part)));
  }
  for (const std::string_view text : {"", "[]", "7", "{", "null", "{\"format-version\":2}"}) {
    EXPECT_THAT(ParseTableMetadata(text, "x.json"), HasError(Code::kCorrupt, HasSubstr("x.json")));
  }
}

TEST(MetadataTest, EveryPrefixOfAFileIsCorrupt) {
  for (std::size_t n = 0; n < kV3.size(); ++n) {
    ASSERT_THAT(ParseTableMetadata(kV3.substr(0, n), "p"), HasCode(Code::kCorrupt)) << n;
  }
}

TEST(MetadataTest, VersionIsPartOfTheFileName) {
  const std::vector<std::pair<std::string, std::optional<int>>> cases = {
      {"00003-9c12.metadata.json", 3},
      {"v12.gz.metadata.json", 12},
      {"v1.metadata.json", 1},
      {"00010-9c12.gz.metadata.json", 10},
      {"v7.metadata.json.gz", 7},
      {"100000-x.metadata.json", 100000},
      {"version-hint.text", {}},
      {"v.metadata.json", {}},
      {"vx.metadata.json", {}},
      {"v-1.metadata.json", {}},
      {"00003.metadata.json", {}},
      {"-x.metadata.json", {}},
      {"00003-.metadata.json", {}},
      {"leftover.metadata.json", {}},
      {"v99999999999.metadata.json", {}},
      {".v3.metadata.json.crc", {}},
      {"", {}},
      {"snap-1-1-x.avro", {}}};
  for (const auto& [name, version] : cases) EXPECT_EQ(MetadataVersionOf(name), version) << name;
}

TEST(MetadataTest, NumbersInPropertiesAreReadOrNamed) {
  const Properties p = {{"n", "42"},
                        {"neg", "-1"},
                        {"plus", "+7"},
                        {"x", "12a"},
                        {"e", ""},
                        {"d", "0.5"},
                        {"big", "9223372036854775808"}};
  EXPECT_THAT(IntProperty(p, "n", 1), IsOkAndHolds(42));
  EXPECT_THAT(IntProperty(p, "neg", 1), IsOkAndHolds(-1));
  EXPECT_THAT(IntProperty(p, "plus", 1), IsOkAndHolds(7));
  EXPECT_THAT(IntProperty(p, "absent", 1), IsOkAndHolds(1));
  for (const char* key : {"x", "e", "d", "big"}) {
    EXPECT_THAT(
        IntProperty(p, key, 1),
        HasError(Code::kInvalidArgument, AllOf(HasSubstr(key), HasSubstr('"' + p.at(key) + '"'))));
  }
  EXPECT_THAT(DoubleProperty(p, "d", 1), IsOkAndHolds(0.5));
  EXPECT_THAT(DoubleProperty(p, "absent", 0.25), IsOkAndHolds(0.25));
  EXPECT_THAT(DoubleProperty(p, "x", 1), HasError(Code::kInvalidArgument, HasSubstr("12a")));
}

TEST(MetadataTest, OnlyTrueIsTrue) {
  const Properties p = {{"a", "true"}, {"b", "TRUE"}, {"c", "1"}, {"d", "false"}, {"e", "truer"}};
  EXPECT_TRUE(BoolProperty(p, "a", false));
  EXPECT_TRUE(BoolProperty(p, "b", false));
  for (const char* key : {"c", "d", "e"}) EXPECT_FALSE(BoolProperty(p, key, true)) << key;
  EXPECT_TRUE(BoolProperty(p, "absent", true));
  EXPECT_EQ(StringProperty(p, "c", "x"), "1");
  EXPECT_EQ(StringProperty(p, "absent", "x"), "x");
}

TEST(MetadataTest, EncryptionIsAPropertyOrAKey) {
  TableMetadata t;
  EXPECT_FALSE(t.is_encrypted());
  t.encryption_keys = "[]";
  EXPECT_FALSE(t.is_encrypted());
  t.encryption_keys = R"([{"key-id":"k"}])";
  EXPECT_TRUE(t.is_encrypted());
  t.encryption_keys = "";
  t.properties = {{"encryption.key-id", "k"}};
  EXPECT_TRUE(t.is_encrypted());
}

TEST(MetadataTest, LocationsLoseTrailingSlashesButNotTheirScheme) {
  for (const auto& [text, kept] : std::vector<std::pair<std::string, std::string>>{
           {"s3://b/t//", "s3://b/t"}, {"s3://", "s3://"}, {"/", "/"}, {"/t/", "/t"}, {"", ""}}) {
    EXPECT_EQ(WithoutTrailingSlash(Location(text)), Location(kept));
  }
}

TEST(SnapshotIndexTest, FindsSnapshotsAndParents) {
  const TableMetadata t = Parse(kV3);
  const SnapshotIndex index(t);
  EXPECT_EQ(index.Find(SnapshotId{12}), &t.snapshots[1]);
  EXPECT_EQ(index.Find(SnapshotId{13}), nullptr);
  EXPECT_EQ(index.ParentOf(t.snapshots[1]), &t.snapshots[0]);
  EXPECT_EQ(index.ParentOf(t.snapshots[0]), nullptr);
}

}  // namespace
}  // namespace icewright
