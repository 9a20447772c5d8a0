// Fail a conversion at call 0, 1, 2, ... of storage and catalog: whatever fails, no row is lost or
// doubled, nothing needed is deleted, and the next run finishes the job. An index of keys that the
// failed run began or added to serves the next run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::SizeIs;

enum class Kind : std::uint8_t {
  kOneCall,    ///< One call fails.
  kOneAnswer,  ///< One call takes effect and its answer is lost.
  kKill,       ///< From one call on nothing happens any more.
};

enum class Index : std::uint8_t {
  kNone,
  kNew,   ///< The run that fails is the first to use it.
  kUsed,  ///< An earlier conversion has filled it.
};

struct SweepCase {
  const char* name;
  bool staged = false;
  Kind kind = Kind::kOneCall;
  TestCatalog catalog = TestCatalog::kMemory;
  Index index = Index::kNone;
  friend void PrintTo(const SweepCase& c, std::ostream* os) { *os << c.name; }
};

struct Sweep {
  explicit Sweep(const SweepCase& c)
      : table({.properties = {{"commit.status-check.num-retries", "1"},
                              {"commit.retry.num-retries", "2"}},
               .catalog = c.catalog}) {
    const DataFile f = table.Rows("f", {1, 2, 3, 4});
    table.Commit({.added_data_files = {{f}}});
    table.Commit({.operation = "delete", .added_delete_files = {{table.DvOf("d", f, {0})}}});
    options.equality_field_columns = "id";
    if (c.index != Index::kNone) {
      options.resolve = "indexed";
      options.index_path = folder.path();
    }
    if (c.index == Index::kUsed) {
      table.Upsert({9}, {});
      EXPECT_THAT(Run(), IsOk());
      EXPECT_EQ(table.Count("read-data-file-num"), 1);
    }
    const std::string branch = c.staged ? "staging" : "main";
    if (c.staged) table.Branch("staging", *table.Load().metadata().current_snapshot_id);
    table.Upsert({2}, {2, 5}, branch);
    table.Upsert({5, 3}, {6}, branch);
    if (c.staged) options.staging_branch = "staging";
  }

  Status Run() { return table.Convert(options); }

  TempFolder folder;
  ConvertTestTable table;
  ConvertEqualityDeletesOptions options;
};

/// Which calls of a run fail: all, or, as the index makes no difference before it is opened, every
/// third from the first read of keys on.
struct Steps {
  explicit Steps(const SweepCase& c) {
    if (c.index == Index::kNone) return;
    Sweep rehearsal(c);
    Table loaded = rehearsal.table.Load();
    const std::ptrdiff_t before = rehearsal.table.io().calls();
    EXPECT_THAT(rehearsal.table.ConvertLoaded(loaded, rehearsal.options), IsOk());
    const auto events = rehearsal.table.io().events();
    const auto read = std::find_if(events.begin() + before, events.end(), [](const IoEvent& event) {
      return event.location.text().find("/data/") != std::string::npos;
    });
    first = static_cast<int>(read - events.begin() - before);
    stride = 3;
  }
  int first = 0;
  int stride = 1;
};

class ConvertSweepTest : public ::testing::TestWithParam<SweepCase> {};

TEST_P(ConvertSweepTest, NothingIsLostAndTheNextRunFinishes) {
  const SweepCase& c = GetParam();
  int failed = 0;
  const Steps steps(c);
  for (int step = steps.first;; step += steps.stride) {
    SCOPED_TRACE("step " + std::to_string(step));
    Sweep sweep(c);
    ConvertTestTable& table = sweep.table;
    Table loaded = table.Load();
    const int base = table.io().calls();
    const auto deleted_before = table.io().deleted().size();
    if (c.kind == Kind::kKill) {
      table.io().FailFrom(base + step);
    } else {
      table.io().FailAt(
          base + step, Error(Code::kIo, "injected failure"),
          c.kind == Kind::kOneCall ? FaultFileIO::When::kBefore : FaultFileIO::When::kAfter);
    }
    TaskReport report;
    const Status status =
        ConvertEqualityDeletes(sweep.options).Execute(table.run(), loaded, report);
    const bool reached = table.io().calls() > base + step;
    table.io().FailAt(-1);
    failed += !status;

    if (!status && status.error().code() == Code::kCommitUnknown) {
      EXPECT_THAT(table.io().deleted(), SizeIs(deleted_before)) << "unknown: nothing is deleted";
    }
    const auto reachable = table.Reachable();
    EXPECT_THAT(reachable, IsSubsetOf(table.Files())) << "what is needed is there";
    if (c.staged) {
      EXPECT_THAT(table.Ids(),
                  AnyOf(ElementsAre(2, 3, 4), ElementsAre(2, 3, 4, 5), ElementsAre(2, 4, 6)));
    } else {
      EXPECT_THAT(table.Ids(), ElementsAre(2, 4, 6));
    }

    EXPECT_THAT(sweep.Run(), IsOk());
    EXPECT_THAT(table.report.notes, IsEmpty()) << "the index is as good as before";
    EXPECT_THAT(table.Ids(), ElementsAre(2, 4, 6));
    EXPECT_EQ(table.EqualityDeleteFiles(), 0);
    table.Vectors();
    if (::testing::Test::HasFailure() || !reached) break;
  }
  EXPECT_GT(failed, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConvertSweepTest,
    ::testing::Values(SweepCase{"InPlace"}, SweepCase{"InPlaceAnswer", false, Kind::kOneAnswer},
                      SweepCase{"InPlaceKill", false, Kind::kKill},
                      SweepCase{"InPlaceSql", false, Kind::kOneAnswer, TestCatalog::kSql},
                      SweepCase{"Promotion", true},
                      SweepCase{"PromotionAnswer", true, Kind::kOneAnswer},
                      SweepCase{"PromotionKill", true, Kind::kKill},
                      SweepCase{"PromotionFiles", true, Kind::kKill, TestCatalog::kFileSystem}),
    [](const auto& test) { return test.param.name; });

SweepCase WithIndex(const char* name, bool staged, Kind kind, Index index) {
  return {.name = name, .staged = staged, .kind = kind, .index = index};
}

INSTANTIATE_TEST_SUITE_P(
    Indexed, ConvertSweepTest,
    ::testing::Values(WithIndex("InPlaceKill", false, Kind::kKill, Index::kNew),
                      WithIndex("InPlaceUsed", false, Kind::kOneCall, Index::kUsed),
                      WithIndex("PromotionAnswer", true, Kind::kOneAnswer, Index::kNew),
                      WithIndex("PromotionUsedKill", true, Kind::kKill, Index::kUsed)),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace icewright
