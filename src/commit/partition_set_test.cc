#include "commit/partition_set.h"

#include <gtest/gtest.h>

#include <string>

namespace icewright {
namespace {

/// Spec 0: unpartitioned; 1: identity(cat), bucket[8](id); 2: identity(ratio).
TableMetadata Metadata() {
  TableMetadata metadata;
  metadata.schemas = {
      Schema({{.id = FieldId(1), .name = "cat", .type = Type::Of(TypeId::kString)},
              {.id = FieldId(2), .name = "id", .type = Type::Of(TypeId::kLong)},
              {.id = FieldId(3), .name = "ratio", .type = Type::Of(TypeId::kDouble)}},
             SchemaId(0))};
  metadata.partition_specs = {{.id = SpecId(0), .fields = {}},
                              {.id = SpecId(1),
                               .fields = {{.source_ids = {FieldId(1)},
                                           .field_id = FieldId(1000),
                                           .name = "cat",
                                           .transform = Transform()},
                                          {.source_ids = {FieldId(2)},
                                           .field_id = FieldId(1001),
                                           .name = "id_bucket",
                                           .transform = Transform::Bucket(8)}}},
                              {.id = SpecId(2),
                               .fields = {{.source_ids = {FieldId(3)},
                                           .field_id = FieldId(1002),
                                           .name = "ratio",
                                           .transform = Transform()}}}};
  return metadata;
}

PartitionFieldSummary Range(const Type& type, Literal low, Literal high, bool has_null = false) {
  return {.contains_null = has_null,
          .lower_bound = ToBytes(type, low),
          .upper_bound = ToBytes(type, high)};
}

ManifestFile ManifestOf(int spec, std::optional<std::vector<PartitionFieldSummary>> partitions) {
  ManifestFile manifest;
  manifest.partition_spec_id = SpecId(spec);
  manifest.partitions = std::move(partitions);
  return manifest;
}

const Type kString = Type::Of(TypeId::kString);
const Type kInt = Type::Of(TypeId::kInt);
const Type kDouble = Type::Of(TypeId::kDouble);

/// Categories "b" to "d" without null, buckets 2 to 4 and null.
ManifestFile BToD() {
  return ManifestOf(1, {{Range(kString, std::string("b"), std::string("d")),
                         Range(kInt, std::int32_t{2}, std::int32_t{4}, true)}});
}

struct Case {
  const char* name;
  int spec;
  StructValue partition;
  ManifestFile manifest;
  bool expected;
};

class PartitionSetTest : public ::testing::TestWithParam<Case> {};

TEST_P(PartitionSetTest, RulesOut) {
  PartitionSet set;
  set.Add(SpecId(GetParam().spec), GetParam().partition);
  EXPECT_EQ(set.MayBeIn(Metadata(), GetParam().manifest), GetParam().expected);
}

StructValue Tuple(const char* cat, int bucket) {
  return {Literal(std::string(cat)), Literal(std::int32_t{bucket})};
}

INSTANTIATE_TEST_SUITE_P(
    Table, PartitionSetTest,
    ::testing::Values(
        Case{"Inside", 1, Tuple("c", 3), BToD(), true},
        Case{"LowerBoundIsInside", 1, Tuple("b", 2), BToD(), true},
        Case{"UpperBoundIsInside", 1, Tuple("d", 4), BToD(), true},
        Case{"BelowInOneField", 1, Tuple("a", 3), BToD(), false},
        Case{"AboveInTheOther", 1, Tuple("c", 5), BToD(), false},
        Case{"NullWhereThereIsNone", 1, {Literal(), Literal(std::int32_t{3})}, BToD(), false},
        Case{"NullWhereThereIsOne", 1, {Literal(std::string("c")), Literal()}, BToD(), true},
        Case{"AnotherSpec", 0, {}, BToD(), false},
        Case{"Unpartitioned", 0, {}, ManifestOf(0, {{}}), true},
        Case{"NoSummaries", 1, Tuple("z", 7), ManifestOf(1, {}), true},
        Case{"SummariesOfAnotherLength", 1, Tuple("z", 7), ManifestOf(1, {{}}), true},
        Case{"BoundsThatDoNotDecode", 1, Tuple("b", 7),
             ManifestOf(1, {{Range(kString, std::string("b"), std::string("d")),
                             {.lower_bound = Bytes("x"), .upper_bound = Bytes("y")}}}),
             true},
        Case{"NoBounds", 1, Tuple("b", 7),
             ManifestOf(1, {{Range(kString, std::string("b"), std::string("d")), {}}}), true},
        Case{"DoublesAreNotPruned",
             2,
             {Literal(9.0)},
             ManifestOf(2, {{Range(kDouble, 1.0, 2.0)}}),
             true},
        Case{"SpecTheTableDoesNotHave", 7, Tuple("z", 7), ManifestOf(7, {{}}), true}),
    [](const auto& test) { return test.param.name; });

TEST(PartitionSetTest, OneOfManyIsEnough) {
  PartitionSet set;
  EXPECT_TRUE(set.empty());
  set.Add(SpecId(1), Tuple("a", 1));
  EXPECT_FALSE(set.MayBeIn(Metadata(), BToD()));
  set.Add(SpecId(1), Tuple("c", 3));
  EXPECT_TRUE(set.MayBeIn(Metadata(), BToD()));
  EXPECT_FALSE(set.empty());
}

}  // namespace
}  // namespace icewright
