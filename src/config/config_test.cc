#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "config/fields.h"
#include "config/units.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::HasSubstr;

struct SizeCase {
  const char* text;
  std::optional<std::int64_t> bytes;
};

class ByteSizeTest : public ::testing::TestWithParam<SizeCase> {};

TEST_P(ByteSizeTest, Parses) {
  const auto parsed = ParseByteSize(GetParam().text);
  if (GetParam().bytes) {
    EXPECT_THAT(parsed, IsOkAndHolds(*GetParam().bytes));
  } else {
    EXPECT_THAT(parsed, HasError(Code::kInvalidArgument, HasSubstr("is no size")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ByteSizeTest,
    ::testing::Values(SizeCase{"0", 0}, SizeCase{"1048576", 1048576}, SizeCase{"512MiB", 536870912},
                      SizeCase{"512mb", 536870912}, SizeCase{"1.5 GiB", 1610612736},
                      SizeCase{"64k", 65536}, SizeCase{"2T", 2199023255552},
                      SizeCase{"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
                      SizeCase{"9223372036854775808", std::nullopt}, SizeCase{"", std::nullopt},
                      SizeCase{"-1", std::nullopt}, SizeCase{"10 parsecs", std::nullopt},
                      SizeCase{"MiB", std::nullopt}, SizeCase{"1MiB1", std::nullopt}));

struct DurationCase {
  const char* text;
  std::optional<std::int64_t> ms;
};

class DurationTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(DurationTest, Parses) {
  const auto parsed = ParseDuration(GetParam().text);
  if (GetParam().ms) {
    EXPECT_THAT(parsed, IsOkAndHolds(Milliseconds(*GetParam().ms)));
  } else {
    EXPECT_THAT(parsed, HasError(Code::kInvalidArgument, HasSubstr("is no duration")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, DurationTest,
    ::testing::Values(DurationCase{"500ms", 500}, DurationCase{"30s", 30'000},
                      DurationCase{"5 min", 300'000}, DurationCase{"2h", 7'200'000},
                      DurationCase{"7d", 604'800'000}, DurationCase{"1h30m", 5'400'000},
                      DurationCase{"PT72H", 259'200'000}, DurationCase{"P1DT2H", 93'600'000},
                      DurationCase{"PT0S", 0}, DurationCase{"5", std::nullopt},
                      DurationCase{"", std::nullopt}, DurationCase{"PT", std::nullopt},
                      DurationCase{"-5s", std::nullopt},
                      DurationCase{"5 fortnights", std::nullopt}));

TEST(FormatTest, ReadsWell) {
  EXPECT_EQ(FormatByteSize(0), "0 B");
  EXPECT_EQ(FormatByteSize(1023), "1023 B");
  EXPECT_EQ(FormatByteSize(536870912), "512.0 MiB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
  EXPECT_EQ(FormatCount(-123), "-123");
  EXPECT_EQ(FormatDuration(Milliseconds(950)), "950 ms");
  EXPECT_EQ(FormatDuration(Milliseconds(61'000)), "1 min 1 s");
  EXPECT_EQ(FormatDuration(Milliseconds(90'061'000)), "1 d 1 h");
}

struct Sample {
  bool dry_run = false;
  int min_input_files = 5;
  std::optional<std::int64_t> target_file_size_bytes = {};
  std::int64_t max_snapshot_age_ms = 0;
  double ratio = 0.3;
  std::string filter = {};
};

constexpr OptionField<Sample> kSampleFields[] = {
    {"dry-run", &Sample::dry_run, "only report"},
    {"min-input-files", &Sample::min_input_files, "files a group needs"},
    {"target-file-size-bytes", &Sample::target_file_size_bytes, "size", FieldUnit::kBytes},
    {"max-snapshot-age", &Sample::max_snapshot_age_ms, "age", FieldUnit::kDuration},
    {"ratio", &Sample::ratio, "ratio"},
    {"filter", &Sample::filter, "rows"},
};

Status Set(Sample& sample, std::string_view key, std::string_view text) {
  return SetField(std::span<const OptionField<Sample>>(kSampleFields), key, text, sample);
}

TEST(FieldsTest, SetEveryKindOfMember) {
  Sample sample;
  EXPECT_THAT(Set(sample, "dry-run", "TRUE"), IsOk());
  EXPECT_THAT(Set(sample, "min-input-files", "2"), IsOk());
  EXPECT_THAT(Set(sample, "target-file-size-bytes", "1KiB"), IsOk());
  EXPECT_THAT(Set(sample, "max-snapshot-age", "7d"), IsOk());
  EXPECT_THAT(Set(sample, "ratio", "0.5"), IsOk());
  EXPECT_THAT(Set(sample, "filter", "a = 1"), IsOk());
  EXPECT_TRUE(sample.dry_run);
  EXPECT_EQ(sample.min_input_files, 2);
  EXPECT_EQ(sample.target_file_size_bytes, 1024);
  EXPECT_EQ(sample.max_snapshot_age_ms, 604'800'000);
  EXPECT_EQ(sample.ratio, 0.5);
  EXPECT_EQ(sample.filter, "a = 1");
}

TEST(FieldsTest, ErrorsNameTheKeyAndTheNearestOne) {
  Sample sample;
  EXPECT_THAT(Set(sample, "min-input-files", "two"),
              HasError(Code::kInvalidArgument, "min-input-files: 'two' is no number that fits"));
  EXPECT_THAT(Set(sample, "min-input-files", "99999999999"), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(Set(sample, "dry-run", "yes"), HasCode(Code::kInvalidArgument));
  EXPECT_THAT(
      Set(sample, "dryrun", "true"),
      HasError(Code::kInvalidArgument, "no option named 'dryrun'; did you mean 'dry-run'?"));
}

}  // namespace
}  // namespace icewright
