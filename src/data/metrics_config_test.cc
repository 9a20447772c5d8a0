#include "data/metrics_config.h"

#include <string>

#include "testing/matchers.h"
#include "testing/table_builder.h"

namespace icewright {
namespace {

using enum MetricsMode::Kind;
using ::testing::Optional;

Schema ThreeColumns() {
  return MakeSchema(
      {{1, "a", TypeId::kInt},
       {2, "b", TypeId::kString},
       {3, "c",
        Type::Struct({{.id = FieldId{4}, .name = "d", .type = Type::Of(TypeId::kString)}})}});
}

SortOrder OrderBy(int column, const std::string& transform) {
  return {.id = SortOrderId{1},
          .fields = {{.source_ids = {FieldId{column}}, .transform = Transform::Parse(transform)}}};
}

MetricsMode ModeOf(const Properties& properties, int column, const SortOrder& order = {}) {
  auto config = MetricsConfig::Make(properties, ThreeColumns(), order);
  EXPECT_THAT(config, IsOk());
  return config->ModeOf(FieldId{column});
}

TEST(MetricsConfigTest, ParsesModes) {
  EXPECT_THAT(ParseMetricsMode("NONE"), Optional(MetricsMode{kNone, 0}));
  EXPECT_THAT(ParseMetricsMode("counts"), Optional(MetricsMode{kCounts, 0}));
  EXPECT_THAT(ParseMetricsMode("Truncate(7)"), Optional(MetricsMode{kTruncate, 7}));
  EXPECT_THAT(ParseMetricsMode("full"), Optional(MetricsMode{kFull, 0}));
  for (const char* bad : {"", "truncate", "truncate()", "truncate(0)", "truncate(-1)",
                          "truncate(x)", "truncate(99999999999)", "fully"}) {
    EXPECT_EQ(ParseMetricsMode(bad), std::nullopt) << bad;
  }
}

TEST(MetricsConfigTest, TakesDefaultThenColumn) {
  const Properties properties = {{"write.metadata.metrics.default", "counts"},
                                 {"write.metadata.metrics.column.c.d", "full"},
                                 {"write.metadata.metrics.column.gone", "full"}};
  EXPECT_EQ(ModeOf(properties, 1), (MetricsMode{kCounts, 0}));
  EXPECT_EQ(ModeOf(properties, 4), (MetricsMode{kFull, 0}));
  EXPECT_EQ(ModeOf({}, 1), (MetricsMode{kTruncate, 16}));
}

TEST(MetricsConfigTest, TextThatDoesNotParseFallsBack) {
  EXPECT_EQ(ModeOf({{"write.metadata.metrics.default", "lots"}}, 1), (MetricsMode{kTruncate, 16}));
  EXPECT_EQ(ModeOf({{"write.metadata.metrics.default", "none"},
                    {"write.metadata.metrics.column.a", "lots"}},
                   1),
            (MetricsMode{kNone, 0}));
}

TEST(MetricsConfigTest, SortColumnsKeepBounds) {
  const Properties none = {{"write.metadata.metrics.default", "none"}};
  EXPECT_EQ(ModeOf(none, 2, OrderBy(2, "identity")), (MetricsMode{kTruncate, 16}));
  EXPECT_EQ(ModeOf(none, 2, OrderBy(2, "truncate[4]")), (MetricsMode{kTruncate, 16}));
  EXPECT_EQ(ModeOf(none, 2, OrderBy(2, "bucket[4]")), (MetricsMode{kNone, 0}))
      << "a bucket keeps no order";
  EXPECT_EQ(ModeOf({{"write.metadata.metrics.default", "full"}}, 2, OrderBy(2, "identity")),
            (MetricsMode{kFull, 0}));
  EXPECT_EQ(ModeOf({{"write.metadata.metrics.column.b", "counts"}}, 2, OrderBy(2, "identity")),
            (MetricsMode{kCounts, 0}))
      << "what the user says of a column wins";
}

TEST(MetricsConfigTest, WideTablesKeepMetricsOfTheFirstColumns) {
  const Properties two = {{"write.metadata.metrics.max-inferred-column-defaults", "2"}};
  EXPECT_EQ(ModeOf(two, 1), (MetricsMode{kTruncate, 16}));
  EXPECT_EQ(ModeOf(two, 2), (MetricsMode{kTruncate, 16}));
  EXPECT_EQ(ModeOf(two, 4), (MetricsMode{kNone, 0})) << "nested columns come after flat ones";
  const Properties given = {{"write.metadata.metrics.max-inferred-column-defaults", "0"},
                            {"write.metadata.metrics.default", "full"}};
  EXPECT_EQ(ModeOf(given, 4), (MetricsMode{kFull, 0})) << "a default that is given is no inference";
}

TEST(MetricsConfigTest, RefusesANumberThatIsNone) {
  EXPECT_THAT(MetricsConfig::Make({{"write.metadata.metrics.max-inferred-column-defaults", "many"}},
                                  ThreeColumns(), {}),
              HasCode(Code::kInvalidArgument));
}

}  // namespace
}  // namespace icewright
