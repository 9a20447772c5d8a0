// Which deletes apply: the table of the spec, by cases and against a brute-force oracle.

#include "scan/delete_index.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "table/literal.h"
#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Spec 0 and 3: unpartitioned (3 by void fields only); 1: by the string column 2; 2: by bucket.
TableMetadata Table() {
  return MakeTable(MakeSchema({{1, "id", TypeId::kLong},
                               {2, "cat", TypeId::kString},
                               {3, "x", TypeId::kDouble},
                               {4, "req", Type::Of(TypeId::kInt), true}}),
                   {MakeSpec(0, {}), MakeSpec(1, {{2, "identity"}}),
                    MakeSpec(2, {{1, "bucket[2]"}}, 1), MakeSpec(3, {{2, "void"}})},
                   3);
}

StructValue Cat(std::string value) { return {Literal(std::move(value))}; }

DeleteTask Seq(std::int64_t number, DataFile file) {
  return {.file = std::move(file), .sequence_number = SequenceNumber{number}};
}

std::vector<std::string> Names(
    const Result<std::vector<std::shared_ptr<const DeleteTask>>>& found) {
  std::vector<std::string> names;
  EXPECT_THAT(found, IsOk());
  if (!found) return names;
  for (const auto& task : *found) names.push_back(task->file.file_path.text());
  return names;
}

class DeleteIndexTest : public ::testing::Test {
 protected:
  DeleteIndex Build(std::vector<DeleteTask> deletes) {
    auto index = DeleteIndex::Build(table_, std::move(deletes));
    EXPECT_THAT(index, IsOk());
    return *std::move(index);
  }
  static std::vector<std::string> Find(const DeleteIndex& index, const DataFile& file,
                                       std::int64_t number) {
    return Names(index.Find(file, SequenceNumber{number}));
  }

  TableMetadata table_ = Table();
  const TestFile a_{.spec_id = 1, .partition = Cat("a")};
  const TestFile b_{.spec_id = 1, .partition = Cat("b")};
};

TEST_F(DeleteIndexTest, PositionDeletesApplyFromTheirOwnNumberOn) {
  const DeleteIndex index = Build({Seq(5, MakePositionDeletes("p5", a_))});
  EXPECT_FALSE(index.empty());
  EXPECT_FALSE(index.uses_metrics());
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 4), ElementsAre("p5"));
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 5), ElementsAre("p5"));
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 6), IsEmpty());
  EXPECT_THAT(Find(index, MakeDataFile("f", b_), 4), IsEmpty());
}

TEST_F(DeleteIndexTest, EqualityDeletesApplyToOlderDataOnly) {
  const DeleteIndex index = Build({Seq(5, MakeEqualityDeletes("e5", {1}, a_))});
  EXPECT_TRUE(index.uses_metrics());
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 4), ElementsAre("e5"));
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 5), IsEmpty());
  EXPECT_THAT(Find(index, MakeDataFile("f", b_), 4), IsEmpty());
}

TEST_F(DeleteIndexTest, OnlyEqualityDeletesOfUnpartitionedSpecsAreGlobal) {
  const TestFile none{};
  const TestFile by_void{.spec_id = 3, .partition = {Literal{}}};
  const DeleteIndex index = Build({Seq(5, MakeEqualityDeletes("e0", {1}, none)),
                                   Seq(5, MakeEqualityDeletes("e3", {1}, by_void)),
                                   Seq(5, MakePositionDeletes("p0", none))});
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 4), ElementsAre("e0", "e3"));
  EXPECT_THAT(Find(index, MakeDataFile("f", by_void), 4), ElementsAre("e0", "e3"));
  EXPECT_THAT(Find(index, MakeDataFile("f", none), 4), ElementsAre("p0", "e0", "e3"));
}

TEST_F(DeleteIndexTest, EqualTuplesOfTwoSpecsAreTwoPartitions) {
  const TestFile one{.spec_id = 1, .partition = {Literal{}}};
  const TestFile two{.spec_id = 2, .partition = {Literal{}}};
  const DeleteIndex index =
      Build({Seq(5, MakePositionDeletes("p1", one)), Seq(5, MakeEqualityDeletes("e2", {1}, two))});
  EXPECT_THAT(Find(index, MakeDataFile("f", one), 1), ElementsAre("p1"));
  EXPECT_THAT(Find(index, MakeDataFile("f", two), 1), ElementsAre("e2"));
}

TEST_F(DeleteIndexTest, ADeleteOfOneFileAppliesToThatFile) {
  DataFile by_reference = MakePositionDeletes("by reference", a_);
  by_reference.referenced_data_file = Location("f");
  DataFile by_bounds = MakePositionDeletes("by bounds", a_);
  by_bounds.lower_bounds = by_bounds.upper_bounds = {{kDeleteFilePathField, "f"}};
  const DeleteIndex index = Build({Seq(6, by_reference), Seq(5, by_bounds)});
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 5), ElementsAre("by bounds", "by reference"));
  EXPECT_THAT(Find(index, MakeDataFile("f", a_), 6), ElementsAre("by reference"));
  EXPECT_THAT(Find(index, MakeDataFile("g", a_), 5), IsEmpty());
  EXPECT_THAT(index.Find(MakeDataFile("f", b_), SequenceNumber{5}),
              HasError(Code::kCorrupt, HasSubstr("another partition")));
}

TEST_F(DeleteIndexTest, ADvReplacesPositionDeletesButNotEqualityDeletes) {
  const DataFile file = MakeDataFile("f", a_);
  DataFile scoped = MakePositionDeletes("scoped", a_);
  scoped.referenced_data_file = Location("f");
  const DeleteIndex index =
      Build({Seq(5, MakePositionDeletes("p", a_)), Seq(5, scoped),
             Seq(6, MakeEqualityDeletes("e", {1}, a_)), Seq(5, MakeDv("dv", file))});
  EXPECT_THAT(Find(index, file, 5), ElementsAre("dv", "e"));
  EXPECT_THAT(Find(index, MakeDataFile("g", a_), 5), ElementsAre("p", "e"));
}

TEST_F(DeleteIndexTest, ImpossibleDvsAreCorrupt) {
  const DataFile file = MakeDataFile("f", a_);
  EXPECT_THAT(
      DeleteIndex::Build(table_, {Seq(5, MakeDv("x", file)), Seq(6, MakeDv("y", file, 44))}),
      HasError(Code::kCorrupt, HasSubstr("two DVs for f")));
  DataFile lost = MakeDv("x", file);
  lost.referenced_data_file.reset();
  EXPECT_THAT(DeleteIndex::Build(table_, {Seq(5, lost)}), HasCode(Code::kCorrupt));
  const DeleteIndex index = Build({Seq(5, MakeDv("x", file))});
  EXPECT_THAT(Find(index, file, 5), ElementsAre("x"));
  EXPECT_THAT(index.Find(file, SequenceNumber{6}), HasError(Code::kCorrupt, HasSubstr("older")));
  EXPECT_THAT(index.Find(MakeDataFile("f", b_), SequenceNumber{5}), HasCode(Code::kCorrupt));
  EXPECT_THAT(
      index.Find(MakeDataFile("f", {.spec_id = 2, .partition = Cat("a")}), SequenceNumber{5}),
      HasCode(Code::kCorrupt));
}

TEST_F(DeleteIndexTest, AnEqualityDeleteOfAnUnknownSpecIsCorrupt) {
  EXPECT_THAT(DeleteIndex::Build(table_, {Seq(5, MakeEqualityDeletes("e", {1}, {.spec_id = 9}))}),
              HasError(Code::kCorrupt, HasSubstr("spec 9")));
}

TEST_F(DeleteIndexTest, DeletesUpToANumberCanBeIgnored) {
  const DataFile file = MakeDataFile("f", a_);
  IW_ASSERT_OK_AND_ASSIGN(
      const auto index,
      DeleteIndex::Build(table_,
                         {Seq(5, MakePositionDeletes("p5", a_)),
                          Seq(6, MakePositionDeletes("p6", a_)), Seq(5, MakeDv("dv", file))},
                         SequenceNumber{5}));
  EXPECT_THAT(Find(index, file, 1), ElementsAre("p6"));
  IW_ASSERT_OK_AND_ASSIGN(
      const auto none, DeleteIndex::Build(table_, {Seq(5, MakeDv("dv", file))}, SequenceNumber{5}));
  EXPECT_TRUE(none.empty());
}

TEST_F(DeleteIndexTest, FloatPartitionsCompareByBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto at = [](double v) { return TestFile{.spec_id = 1, .partition = {Literal(v)}}; };
  const DeleteIndex index = Build(
      {Seq(5, MakePositionDeletes("nan", at(nan))), Seq(5, MakePositionDeletes("-0", at(-0.0)))});
  EXPECT_THAT(Find(index, MakeDataFile("f", at(-nan)), 1), ElementsAre("nan"));
  EXPECT_THAT(Find(index, MakeDataFile("f", at(-0.0)), 1), ElementsAre("-0"));
  EXPECT_THAT(Find(index, MakeDataFile("f", at(0.0)), 1), IsEmpty());
}

TEST_F(DeleteIndexTest, FoundDeletesHaveNoMetricsButTheirScope) {
  DataFile file = MakeEqualityDeletes("e", {1});
  file.value_counts = {{FieldId{1}, 3}};
  file.lower_bounds = {{FieldId{1}, Bytes(8, '\0')}, {kDeleteFilePathField, "f"}};
  const DeleteIndex index = Build({Seq(5, file)});
  IW_ASSERT_OK_AND_ASSIGN(const auto found, index.Find(MakeDataFile("f"), SequenceNumber{1}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0]->file.value_counts, IsEmpty());
  EXPECT_THAT(found[0]->file.lower_bounds, ElementsAre(std::pair(kDeleteFilePathField, "f")));
}

/// The table of the spec, one delete at a time. Deletes carry no metrics here.
bool Applies(const TableMetadata& table, const DeleteTask& task, const DataFile& data,
             std::int64_t number, bool has_dv) {
  const DataFile& file = task.file;
  const bool same =
      file.spec_id == data.spec_id && std::ranges::equal(file.partition, data.partition, SameValue);
  const std::int64_t own = Raw(task.sequence_number);
  if (file.content == FileContent::kEqualityDeletes) {
    return own > number && (table.FindSpec(file.spec_id)->is_unpartitioned() || same);
  }
  if (file.is_deletion_vector()) return file.referenced_data_file == data.file_path;
  if (has_dv || own < number) return false;
  if (file.referenced_data_file) return file.referenced_data_file == data.file_path;
  return same;
}

std::uint64_t Seed() {
  const char* seed = std::getenv("ICEWRIGHT_TEST_SEED");
  return seed == nullptr ? 20261130 : std::strtoull(seed, nullptr, 10);
}

TEST_F(DeleteIndexTest, AgreesWithBruteForceOnRandomTables) {
  SCOPED_TRACE(Seed());
  std::mt19937_64 random(Seed());
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const auto scope = [&] {
      TestFile out{.spec_id = pick(4)};
      if (out.spec_id == 1)
        out.partition = pick(4) == 0 ? StructValue{Literal{}}
                                     : Cat(std::string(1, static_cast<char>('a' + pick(2))));
      if (out.spec_id == 2) out.partition = {Literal(std::int32_t{pick(2)})};
      if (out.spec_id == 3) out.partition = {Literal{}};
      return out;
    };
    struct Data {
      DataFile file;
      std::int64_t number;
      bool has_dv = false;
    };
    std::vector<Data> data;
    for (int i = 0; i < 30; ++i) {
      data.push_back({MakeDataFile("f" + std::to_string(i), scope()), pick(10)});
    }
    std::vector<DeleteTask> deletes;
    for (int i = 0; i < 60; ++i) {
      const std::string name = "d" + std::to_string(i);
      Data& target = data[static_cast<std::size_t>(pick(30))];
      const int kind = pick(4);
      if (kind == 0) deletes.push_back(Seq(pick(12), MakeEqualityDeletes(name, {1}, scope())));
      if (kind == 1) deletes.push_back(Seq(pick(12), MakePositionDeletes(name, scope())));
      if (kind == 2) {
        DataFile scoped = MakePositionDeletes(name);
        scoped.spec_id = target.file.spec_id;
        scoped.partition = target.file.partition;
        scoped.referenced_data_file = target.file.file_path;
        deletes.push_back(Seq(pick(12), scoped));
      }
      if (kind == 3 && !target.has_dv) {
        target.has_dv = true;
        deletes.push_back(Seq(target.number + pick(3), MakeDv(name, target.file)));
      }
    }
    const DeleteIndex index = Build(deletes);
    for (const Data& d : data) {
      std::multiset<std::string> expected;
      for (const DeleteTask& task : deletes) {
        if (Applies(table_, task, d.file, d.number, d.has_dv)) {
          expected.insert(task.file.file_path.text());
        }
      }
      const auto found = index.Find(d.file, SequenceNumber{d.number});
      const auto names = Names(found);
      ASSERT_EQ(std::multiset<std::string>(names.begin(), names.end()), expected)
          << d.file.file_path.text() << " in round " << round;
      EXPECT_TRUE(std::ranges::is_sorted(*found, {},
                                         [](const auto& task) { return task->sequence_number; }));
    }
  }
}

}  // namespace
}  // namespace icewright
