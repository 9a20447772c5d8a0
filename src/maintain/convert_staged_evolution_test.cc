// Promotion in tables whose partition spec and schema change: a staged delete reaches the rows of
// its partition, or of all specs if it has none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "maintain/convert_ways_test_table.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// Spec 0 has no partitions, 1 has those of ten ids each, 2 of five.
class ConvertStagedPartitionsTest : public ConvertWaysTest {
 protected:
  ConvertStagedPartitionsTest() {
    AddSpec(1, "truncate[10]");
    AddSpec(2, "truncate[5]");
  }
  void AddSpec(int id, const std::string& transform) {
    Update({AddPartitionSpec{MakeSpec(id, {{1, transform}}, id)}, SetDefaultSpec{}});
    ASSERT_EQ(Load().metadata().default_spec_id, SpecId{id});
  }
  static DataFile In(DataFile file, int spec, std::int64_t partition) {
    file.spec_id = SpecId{spec};
    file.partition = {Literal(partition)};
    return file;
  }
  /// "id of file", sorted: rows of the target.
  std::vector<std::string> Rest() {
    std::vector<std::string> rows;
    for (const std::string& row : LiveColumns({"id", "_file"})) {
      const std::string file = row.substr(row.rfind('/') + 1);
      rows.push_back(row.substr(1, row.find(',') - 1) + " of " + file.substr(0, file.size() - 2));
    }
    return rows;
  }
  /// Readers refuse a vector that says another partition than its data file.
  void CheckVectors() {
    std::map<Location, DataFile> data;
    for (const DataFile& file : Live()) {
      if (file.content == FileContent::kData) data[file.file_path] = file;
    }
    for (const DataFile& file : Live()) {
      if (!file.is_deletion_vector()) continue;
      const DataFile& of = data.at(*file.referenced_data_file);
      EXPECT_EQ(file.spec_id, of.spec_id);
      EXPECT_EQ(file.partition, of.partition);
    }
  }

  /// The id 1 everywhere, also where no writer would put it: what decides is what the file says.
  void OneEverywhere() {
    Commit({.added_data_files = {{Rows("s0", {1, 2})},
                                 {In(Rows("s1-0", {1, 2}), 1, 0)},
                                 {In(Rows("s1-10", {1, 11}), 1, 10)},
                                 {In(Rows("s2-0", {1, 2}), 2, 0)},
                                 {In(Rows("s2-5", {1, 6}), 2, 5)}}});
    BranchHere();
  }
  void StageDeletes(const std::vector<DataFile>& deletes) {
    SnapshotUpdate update{.operation = "delete", .branch = "staging"};
    for (const DataFile& file : deletes) update.added_delete_files.push_back({file});
    Commit(update);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, ConvertStagedPartitionsTest, kEachWay, NameOfWay);

TEST_P(ConvertStagedPartitionsTest, ADeleteKeepsToItsPartitionAndSpec) {
  OneEverywhere();
  StageDeletes({In(DeleteIds("e1", {1}), 1, 0)});
  StageDeletes({In(DeleteIds("e2", {1, 6}), 2, 5)});
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("1 of s0", "1 of s1-10", "1 of s2-0", "11 of s1-10", "2 of s0",
                                  "2 of s1-0", "2 of s2-0"));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("s1-0", 1), Pair("s2-5", 2)));
  CheckVectors();
}

TEST_P(ConvertStagedPartitionsTest, ADeleteWithoutPartitionsReachesAllSpecs) {
  OneEverywhere();
  StageDeletes({DeleteIds("e1", {1})});
  StageDeletes({DeleteIds("e2", {2, 6})});
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("11 of s1-10"));
  EXPECT_THAT(Vectors(), ElementsAre(Pair("s0", 2), Pair("s1-0", 2), Pair("s1-10", 1),
                                     Pair("s2-0", 2), Pair("s2-5", 2)));
  CheckVectors();
}

TEST_P(ConvertStagedPartitionsTest, BothKindsInOneSnapshot) {
  OneEverywhere();
  StageDeletes({DeleteIds("e1", {6}), In(DeleteIds("e2", {1, 11}), 1, 10)});
  StageDeletes({In(DeleteIds("e3", {2}), 2, 0), In(DeleteIds("e4", {2}), 1, 0)});
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("1 of s0", "1 of s1-0", "1 of s2-0", "1 of s2-5", "2 of s0"));
  CheckVectors();
}

TEST_P(ConvertStagedPartitionsTest, TheSpecChangesBetweenStagedSnapshots) {
  Commit({.added_data_files = {{In(Rows("a", {1, 2}), 1, 0)}, {In(Rows("b", {11}), 1, 10)}}});
  BranchHere();
  Commit({.operation = "overwrite",
          .branch = "staging",
          .added_data_files = {{In(Rows("c", {1, 3}), 1, 0)}},
          .added_delete_files = {{In(DeleteIds("e1", {1, 3}), 1, 0)}}});
  AddSpec(3, "truncate[2]");
  Commit({.operation = "overwrite",
          .branch = "staging",
          .added_data_files = {{In(Rows("d", {2, 3}), 3, 2)}},
          .added_delete_files = {{In(DeleteIds("e2", {2, 3}), 3, 2)}}});
  Commit({.operation = "overwrite",
          .branch = "staging",
          .added_data_files = {{In(Rows("g", {3}), 3, 2)}},
          .added_delete_files = {{In(DeleteIds("e3", {3}), 3, 2)}, {DeleteIds("e4", {11})}}});
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("1 of c", "2 of a", "2 of d", "3 of c", "3 of g"));
  EXPECT_EQ(LiveNames("main"), LiveNames("staging"));
  CheckVectors();
}

/// The first promotion meets another schema and spec than it was planned on, and the batch of both
/// was read by the old ones.
TEST_P(ConvertStagedPartitionsTest, TheTableEvolvesBetweenTwoPromotions) {
  Commit({.added_data_files = {{In(Rows("a", {1, 2}), 1, 0)}, {In(Rows("b", {11}), 1, 10)}}});
  BranchHere();
  StageDeletes({In(DeleteIds("e1", {1}), 1, 0)});
  StageDeletes({DeleteIds("e2", {2, 11})});
  StageDeletes({DeleteIds("e3", {12})});
  before_swap = [&] {
    Update(
        {AddSchema{MakeSchema(
             {{2, "cat", TypeId::kString}, {3, "more", TypeId::kInt}, {1, "id", TypeId::kLong}})},
         SetCurrentSchema{}});
    AddSpec(3, "truncate[2]");
    Commit({.added_data_files = {{In(Rows("c", {2, 12}), 3, 12)}}});
    return Status();
  };
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("12 of c", "2 of c")) << "others added them after the deletes";
  CheckVectors();
}

/// The second promotion meets a file with numbers of the wider type.
TEST_P(ConvertStagedPartitionsTest, TheKeyIsWidenedBetweenTwoPromotions) {
  const auto schema = [](TypeId id) {
    return MakeSchema({{1, "id", id}, {2, "cat", TypeId::kString}});
  };
  const auto of_int = [&](const std::string& name, const std::vector<int>& ids) {
    return WriteAvro(name, R"({"name": "id", "type": "int", "field-id": 1})", ids.size(),
                     [&](avro::Encoder out, std::size_t i) { out.WriteInt(ids[i]); });
  };
  const auto deletes = [&](const std::string& name, const std::vector<int>& ids) {
    DataFile file = of_int(name, ids);
    file.content = FileContent::kEqualityDeletes;
    file.equality_ids = {FieldId{1}};
    return file;
  };
  Update({AddSchema{schema(TypeId::kInt)}, SetCurrentSchema{}});
  Commit({.added_data_files = {{of_int("a", {1, 2, 3, 4})}}});
  BranchHere();
  StageDeletes({deletes("e1", {1})});
  StageDeletes({deletes("e2", {2, 7})});
  StageDeletes({deletes("e3", {3, 8})});
  before_swap = [&] {
    Update({AddSchema{schema(TypeId::kLong)}, SetCurrentSchema{}});
    Commit({.added_data_files = {{Rows("c", {7, 8, 2})}}});
    return Status();
  };
  ASSERT_THAT(PromoteAll(), IsOk());
  EXPECT_THAT(Rest(), ElementsAre("2 of c", "4 of a", "7 of c", "8 of c"));
}

TEST_P(ConvertStagedPartitionsTest, AKeyColumnIsRenamedBetweenStagedSnapshots) {
  Commit({.added_data_files = {{Rows("a", {1, 2, 3})}}});
  BranchHere();
  StageDeletes({DeleteIds("e1", {1})});
  ASSERT_THAT(PromoteAll(), IsOk());
  StageDeletes({DeleteIds("e2", {2})});
  Update({AddSchema{MakeSchema({{2, "id", TypeId::kString}, {1, "number", TypeId::kLong}})},
          SetCurrentSchema{}});
  StageDeletes({DeleteIds("e3", {4})});
  ASSERT_THAT(PromoteAll("number"), IsOk());
  EXPECT_THAT(LiveColumns({"number", "id"}), ElementsAre(R"([3,"c3"])"));
  EXPECT_EQ(Vectors()["a"], 2);
}

}  // namespace
}  // namespace icewright
