#pragma once

/// \file maintain/convert_ways_test_table.h
/// A test that promotes in each of the ways to resolve deletes. For tests only.
///
///   TEST_P(MyTest, X) { ... ASSERT_THAT(PromoteAll(), IsOk()); }
///   INSTANTIATE_TEST_SUITE_P(Ways, MyTest, kEachWay, NameOfWay);

#include <gtest/gtest.h>

#include <string>

#include "maintain/convert_test_table.h"
#include "testing/temp_folder.h"

namespace icewright {

enum class TestWay : std::uint8_t {
  kScan,   ///< One snapshot in each run: each has a scan of its own.
  kBatch,  ///< All that wait in one run, which share a scan.
  kIndex,
};

inline const auto kEachWay = ::testing::Values(TestWay::kScan, TestWay::kBatch, TestWay::kIndex);

inline std::string NameOfWay(const ::testing::TestParamInfo<TestWay>& info) {
  if (info.param == TestWay::kScan) return "Scan";
  return info.param == TestWay::kBatch ? "Batch" : "Index";
}

class ConvertWaysTest : public ::testing::TestWithParam<TestWay>, public ConvertTestTable {
 protected:
  explicit ConvertWaysTest(HistoryTestOptions options = {}) : ConvertTestTable(options) {}

  /// `key`: columns of the key.
  Status PromoteAll(const std::string& key = "id") {
    ConvertEqualityDeletesOptions options{.equality_field_columns = key, .resolve = "stateless"};
    if (GetParam() == TestWay::kIndex) {
      options.resolve = "indexed";
      options.index_path = folder_.path();
    }
    if (GetParam() != TestWay::kScan) return Promote(options);
    options.max_staging_snapshots = 1;
    do {
      IW_TRY(Promote(options));
    } while (report.outcome != TaskOutcome::kNothingToDo);
    return {};
  }
  void BranchHere() { Branch("staging", *Load().metadata().current_snapshot_id); }

 private:
  TempFolder folder_;
};

}  // namespace icewright
