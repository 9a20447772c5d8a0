#include "table/literal.h"

#include <cmath>
#include <limits>
#include <random>

#include "codec/json.h"
#include "testing/matchers.h"

namespace icewright {
namespace {

using std::string_literals::operator""s;
using ::testing::HasSubstr;

Type Of(TypeId id) { return Type::Of(id); }
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::string kUuidBytes = *FromHex("f79c3e09677c4bbda4793f349cb785e7");
constexpr std::int64_t kMicros = 1510871468123456;  // 2017-11-16T22:31:08.123456

/// One value in its binary, JSON and human form.
struct Form {
  std::string name;
  Type type;
  Literal value;
  std::string hex;
  std::string json;
  std::string human;
};

void PrintTo(const Form& form, std::ostream* os) { *os << form.name; }

class LiteralForms : public ::testing::TestWithParam<Form> {};

TEST_P(LiteralForms, BytesBothWays) {
  const Form& form = GetParam();
  EXPECT_EQ(ToHex(ToBytes(form.type, form.value)), form.hex);
  IW_ASSERT_OK_AND_ASSIGN(const Literal back, FromBytes(form.type, *FromHex(form.hex)));
  EXPECT_TRUE(SameValue(back, form.value));
}

TEST_P(LiteralForms, JsonBothWays) {
  const Form& form = GetParam();
  EXPECT_EQ(DumpJson(ToJson(form.type, form.value)), form.json);
  IW_ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(form.json));
  IW_ASSERT_OK_AND_ASSIGN(const Literal back, LiteralFromJson(form.type, json));
  EXPECT_TRUE(SameValue(back, form.value));
}

TEST_P(LiteralForms, Human) {
  EXPECT_EQ(ToHuman(GetParam().type, GetParam().value), GetParam().human);
}

// Binary forms by the spec; JSON and human forms as Java Iceberg 1.11 prints them.
INSTANTIATE_TEST_SUITE_P(
    All, LiteralForms,
    ::testing::Values(
        Form{"True", Of(TypeId::kBoolean), true, "01", "true", "true"},
        Form{"False", Of(TypeId::kBoolean), false, "00", "false", "false"},
        Form{"Int", Of(TypeId::kInt), 34, "22000000", "34", "34"},
        Form{"IntMin", Of(TypeId::kInt), std::numeric_limits<std::int32_t>::min(), "00000080",
             "-2147483648", "-2147483648"},
        Form{"Long", Of(TypeId::kLong), std::int64_t{-2}, "feffffffffffffff", "-2", "-2"},
        Form{"LongMax", Of(TypeId::kLong), std::numeric_limits<std::int64_t>::max(),
             "ffffffffffffff7f", "9223372036854775807", "9223372036854775807"},
        Form{"Float", Of(TypeId::kFloat), 1.1F, "cdcc8c3f", "1.1", "1.1"},
        Form{"FloatNan", Of(TypeId::kFloat), kNanF, "0000c07f", "\"NaN\"", "NaN"},
        Form{"FloatMax", Of(TypeId::kFloat), 3.4028235E38F, "ffff7f7f", "3.4028235e+38",
             "3.4028235E38"},
        Form{"Double", Of(TypeId::kDouble), 1.5, "000000000000f83f", "1.5", "1.5"},
        Form{"DoubleNegativeZero", Of(TypeId::kDouble), -0.0, "0000000000000080", "-0.0", "-0.0"},
        Form{"DoubleInfinity", Of(TypeId::kDouble), -kInf, "000000000000f0ff", "\"-Infinity\"",
             "-Infinity"},
        Form{"Date", Of(TypeId::kDate), 17486, "4e440000", "\"2017-11-16\"", "2017-11-16"},
        Form{"DateBeforeEpoch", Of(TypeId::kDate), -1, "ffffffff", "\"1969-12-31\"", "1969-12-31"},
        Form{"DateBeforeYearZero", Of(TypeId::kDate), -719529, "5705f5ff", "\"-0001-12-31\"",
             "-001-12-31"},
        Form{"DateAfterYear9999", Of(TypeId::kDate), 2932897, "a1c02c00", "\"+10000-01-01\"",
             "10000-01-01"},
        Form{"Time", Of(TypeId::kTime), std::int64_t{36775038194}, "f28cf68f08000000",
             "\"10:12:55.038194\"", "10:12:55.038194"},
        Form{"TimeZero", Of(TypeId::kTime), std::int64_t{0}, "0000000000000000", "\"00:00:00\"",
             "00:00"},
        Form{"TimeMinute", Of(TypeId::kTime), std::int64_t{60000000}, "0087930300000000",
             "\"00:01:00\"", "00:01"},
        Form{"TimeMillis", Of(TypeId::kTime), std::int64_t{60000}, "60ea000000000000",
             "\"00:00:00.06\"", "00:00:00.060"},
        Form{"Timestamp", Of(TypeId::kTimestamp), kMicros, "40a5282d215e0500",
             "\"2017-11-16T22:31:08.123456\"", "2017-11-16T22:31:08.123456"},
        Form{"TimestampWhole", Of(TypeId::kTimestamp), std::int64_t{0}, "0000000000000000",
             "\"1970-01-01T00:00:00\"", "1970-01-01T00:00:00"},
        Form{"TimestampTrimsZeros", Of(TypeId::kTimestamp), std::int64_t{-400000},
             "80e5f9ffffffffff", "\"1969-12-31T23:59:59.6\"", "1969-12-31T23:59:59.6"},
        Form{"TimestampTz", Of(TypeId::kTimestampTz), kMicros, "40a5282d215e0500",
             "\"2017-11-16T22:31:08.123456+00:00\"", "2017-11-16T22:31:08.123456+00:00"},
        Form{"TimestampNs", Of(TypeId::kTimestampNs), std::int64_t{-1}, "ffffffffffffffff",
             "\"1969-12-31T23:59:59.999999999\"", "1969-12-31T23:59:59.999999999"},
        Form{"TimestampTzNs", Of(TypeId::kTimestampTzNs), std::int64_t{1000007}, "47420f0000000000",
             "\"1970-01-01T00:00:00.001000007+00:00\"", "1970-01-01T00:00:00.001000007+00:00"},
        Form{"Decimal", Type::Decimal(9, 2), Int128{1420}, "058c", "\"14.20\"", "14.20"},
        Form{"DecimalNegative", Type::Decimal(9, 2), Int128{-5}, "fb", "\"-0.05\"", "-0.05"},
        Form{"DecimalSignByte", Type::Decimal(9, 2), Int128{128}, "0080", "\"1.28\"", "1.28"},
        Form{"DecimalNegativeSignByte", Type::Decimal(9, 0), Int128{-129}, "ff7f", "\"-129\"",
             "-129"},
        Form{"DecimalTiny", Type::Decimal(38, 10), Int128{1}, "01", "\"0.0000000001\"", "1E-10"},
        Form{"DecimalTinyDigits", Type::Decimal(38, 10), Int128{-125}, "83", "\"-0.0000000125\"",
             "-1.25E-8"},
        Form{"String", Of(TypeId::kString), "iceberg"s, "69636562657267", "\"iceberg\"", "iceberg"},
        Form{"Uuid", Of(TypeId::kUuid), kUuidBytes, "f79c3e09677c4bbda4793f349cb785e7",
             "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
        Form{"Fixed", Type::Fixed(4), "\x00\x01\x02\xff"s, "000102ff", "\"000102FF\"", "AAEC/w=="},
        Form{"Binary", Of(TypeId::kBinary), "\x00\x01"s, "0001", "\"0001\"", "AAE="},
        Form{"BinaryThree", Of(TypeId::kBinary), "\x00\x01\x02"s, "000102", "\"000102\"", "AAEC"},
        Form{"BinaryEmpty", Of(TypeId::kBinary), ""s, "", "\"\"", ""}),
    [](const auto& test) { return test.param.name; });

TEST(Literal, HumanFloatsAreJavas) {
  const std::pair<double, std::string> cases[] = {
      {0.0, "0.0"},
      {1e7, "1.0E7"},
      {9999999, "9999999.0"},
      {1234567.125, "1234567.125"},
      {1e-3, "0.001"},
      {1e-4, "1.0E-4"},
      {1.2345e-5, "1.2345E-5"},
      {1e100, "1.0E100"},
      {4.9e-324, "4.9E-324"},
      {1.7976931348623157E308, "1.7976931348623157E308"},
      {12345678, "1.2345678E7"},
      {-100, "-100.0"},
      {kInf, "Infinity"},
      {kNan, "NaN"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(ToHuman(Of(TypeId::kDouble), value), text);
  EXPECT_EQ(ToHuman(Of(TypeId::kFloat), 16777216.0F), "1.6777216E7");
}

TEST(Literal, NullHasNoBytesButTextAndJson) {
  EXPECT_EQ(ToHuman(Of(TypeId::kInt), {}), "null");
  EXPECT_EQ(DumpJson(ToJson(Of(TypeId::kInt), {})), "null");
  EXPECT_THAT(LiteralFromJson(Of(TypeId::kInt), Json(nullptr)), IsOkAndHolds(Literal()));
}

TEST(Literal, BytesOfPromotedTypes) {
  EXPECT_THAT(FromBytes(Of(TypeId::kLong), "\xfe\xff\xff\xff"),
              IsOkAndHolds(Literal(std::int64_t{-2})));
  EXPECT_THAT(FromBytes(Of(TypeId::kDouble), "\x00\x00\xc0\x3f"s), IsOkAndHolds(Literal(1.5)));
  EXPECT_THAT(FromBytes(Of(TypeId::kTimestamp), "\xff\xff\xff\xff"),
              IsOkAndHolds(Literal(std::int64_t{-86'400'000'000})));
  EXPECT_THAT(FromBytes(Of(TypeId::kTimestampNs), "\x01\x00\x00\x00"s),
              IsOkAndHolds(Literal(std::int64_t{86'400'000'000'000})));
  EXPECT_THAT(FromBytes(Type::Decimal(20, 2), "\x01"), IsOkAndHolds(Literal(Int128{1})));
  EXPECT_THAT(FromBytes(Type::Decimal(20, 2), std::string(20, '\xff')),
              IsOkAndHolds(Literal(Int128{-1})));
}

TEST(Literal, BytesOfWrongLengthAreCorrupt) {
  const std::pair<Type, std::string> cases[] = {
      {Of(TypeId::kBoolean), ""},
      {Of(TypeId::kInt), "12345678"},
      {Of(TypeId::kLong), "123"},
      {Of(TypeId::kTime), "1234"},
      {Of(TypeId::kTimestampTz), "1234"},
      {Of(TypeId::kTimestamp), "\xff\xff\xff\x7f"},  // as a date: out of range
      {Of(TypeId::kFloat), "12345678"},
      {Of(TypeId::kDouble), "12345"},
      {Of(TypeId::kUuid), "123456789012345"},
      {Type::Fixed(3), "1234"},
      {Type::Decimal(9, 2), ""},
      {Type::Decimal(9, 2), "\x01" + std::string(16, '\0')},
      {Type::Decimal(9, 2), '\0' + std::string(16, '\xff')},
      {Of(TypeId::kUnknown), "1"}};
  for (const auto& [type, bytes] : cases) {
    EXPECT_THAT(FromBytes(type, bytes), HasCode(Code::kCorrupt)) << type.ToString();
  }
}

TEST(Literal, JsonIsReadLeniently) {
  const std::tuple<Type, std::string, Literal> cases[] = {
      {Of(TypeId::kDate), "17486", 17486},
      {Of(TypeId::kTime), "5", std::int64_t{5}},
      {Of(TypeId::kTimestamp), "5", std::int64_t{5}},
      {Of(TypeId::kTimestampTz), "\"1970-01-01T01:00:00+01:00\"", std::int64_t{0}},
      {Of(TypeId::kTimestampTz), "\"1970-01-01T00:00:01Z\"", std::int64_t{1'000'000}},
      {Type::Decimal(9, 2), "14.2", Int128{1420}},
      {Type::Decimal(9, 2), "14", Int128{1400}},
      {Of(TypeId::kBinary), "\"000102ff\"", "\x00\x01\x02\xff"s},
      {Of(TypeId::kDouble), "3", 3.0}};
  for (const auto& [type, text, value] : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(text));
    EXPECT_THAT(LiteralFromJson(type, json), IsOkAndHolds(value)) << type.ToString() << text;
  }
}

TEST(Literal, JsonErrorsNameTypeAndValue) {
  const std::pair<Type, std::string> cases[] = {
      {Of(TypeId::kBoolean), "1"},
      {Of(TypeId::kInt), "2147483648"},
      {Of(TypeId::kInt), "1.5"},
      {Of(TypeId::kInt), "\"1\""},
      {Of(TypeId::kLong), "9223372036854775808"},
      {Of(TypeId::kFloat), "1e39"},
      {Of(TypeId::kFloat), "\"nan\""},
      {Of(TypeId::kDate), "\"2017-02-29\""},
      {Of(TypeId::kTime), "\"24:00:00\""},
      {Of(TypeId::kTimestamp), "\"1970-01-01T00:00:00Z\""},
      {Of(TypeId::kString), "1"},
      {Of(TypeId::kUuid), "\"f79c3e09\""},
      {Type::Fixed(2), "\"00\""},
      {Of(TypeId::kBinary), "\"0\""},
      {Type::Decimal(3, 2), "\"10.00\""},
      {Type::Decimal(3, 2), "\"1.005\""},
      {Of(TypeId::kUnknown), "1"},
      {Of(TypeId::kVariant), "{}"}};
  for (const auto& [type, text] : cases) {
    IW_ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(text));
    EXPECT_THAT(LiteralFromJson(type, json), HasError(Code::kCorrupt, HasSubstr(type.ToString())))
        << text;
  }
}

TEST(Literal, OrderIsTotal) {
  const std::vector<Literal> doubles = {{},  -kNan,    -kInf, -1.0, -4.9e-324, -0.0,
                                        0.0, 4.9e-324, 1.0,   kInf, kNan};
  const std::vector<Literal> strings = {{}, ""s, "a"s, "a\0"s, "ab"s, "b"s, "\x7f"s, "\xc3\xa9"s};
  const std::vector<Literal> decimals = {
      {}, -(Int128{1} << 100), Int128{-1}, Int128{0}, Int128{1} << 100};
  const std::pair<Type, std::vector<Literal>> cases[] = {{Of(TypeId::kDouble), doubles},
                                                         {Of(TypeId::kString), strings},
                                                         {Type::Decimal(38, 0), decimals}};
  for (const auto& [type, sorted] : cases) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      for (std::size_t k = 0; k < sorted.size(); ++k) {
        EXPECT_EQ(Compare(type, sorted[i], sorted[k]), i <=> k) << type.ToString() << i << ' ' << k;
      }
    }
  }
}

TEST(Literal, SameValueHasOneNanAndTwoZeros) {
  EXPECT_TRUE(SameValue(kNan, -kNan));
  EXPECT_EQ(HashOf(kNan), HashOf(-kNan));
  EXPECT_TRUE(SameValue(kNanF, -kNanF));
  EXPECT_FALSE(SameValue(0.0, -0.0));
  EXPECT_NE(HashOf(0.0), HashOf(-0.0));
  EXPECT_FALSE(SameValue(1, std::int64_t{1}));
  EXPECT_TRUE(StructValueEqual()({kNan, {}}, {-kNan, {}}));
  EXPECT_FALSE(StructValueEqual()({1}, {1, {}}));
  EXPECT_EQ(StructValueHash()({kNan, "a"s}), StructValueHash()({-kNan, "a"s}));
}

TEST(Literal, TextOfFilters) {
  const std::tuple<Type, std::string, Literal> cases[] = {
      {Of(TypeId::kBoolean), "TRUE", true},
      {Of(TypeId::kInt), "-7", -7},
      {Of(TypeId::kInt), "5.00", 5},
      {Of(TypeId::kLong), "2147483648", std::int64_t{2147483648}},
      {Of(TypeId::kFloat), "1.1", 1.1F},
      {Of(TypeId::kDouble), "1e3", 1000.0},
      {Of(TypeId::kDouble), "+5", 5.0},
      {Type::Decimal(9, 2), "1.5", Int128{150}},
      {Type::Decimal(9, 2), "1.500", Int128{150}},
      {Type::Decimal(9, 2), "-.5", Int128{-50}},
      {Type::Decimal(9, 2), "1e2", Int128{10000}},
      {Of(TypeId::kDate), "2024-01-31", 19753},
      {Of(TypeId::kTime), "22:31", std::int64_t{81'060'000'000}},
      {Of(TypeId::kTimestamp), "2024-01-31", std::int64_t{1706659200000000}},
      {Of(TypeId::kTimestamp), "2024-01-31T10:00:00", std::int64_t{1706695200000000}},
      {Of(TypeId::kTimestamp), "2024-01-31 10:00:00.5", std::int64_t{1706695200500000}},
      {Of(TypeId::kTimestampTz), "2024-01-31T10:00:00", std::int64_t{1706695200000000}},
      {Of(TypeId::kTimestampTz), "2024-01-31T10:00:00+02:00", std::int64_t{1706688000000000}},
      {Of(TypeId::kTimestampNs), "1970-01-01T00:00:00.000000001", std::int64_t{1}},
      {Of(TypeId::kString), "abc", "abc"s},
      {Of(TypeId::kUuid), "F79C3E09-677C-4BBD-A479-3F349CB785E7", kUuidBytes},
      {Type::Fixed(2), "00ff", "\x00\xff"s},
      {Of(TypeId::kBinary), "0x00FF", "\x00\xff"s}};
  for (const auto& [type, text, value] : cases) {
    EXPECT_THAT(LiteralFromText(type, text), IsOkAndHolds(value)) << type.ToString() << ' ' << text;
  }
}

TEST(Literal, TextErrorsNameTypeAndText) {
  const std::pair<Type, std::string> cases[] = {
      {Of(TypeId::kBoolean), "1"},
      {Of(TypeId::kInt), "abc"},
      {Of(TypeId::kInt), "1.5"},
      {Of(TypeId::kInt), "2147483648"},
      {Of(TypeId::kInt), ""},
      {Of(TypeId::kInt), "-"},
      {Of(TypeId::kLong), "9223372036854775808"},
      {Of(TypeId::kDouble), "1.5x"},
      {Of(TypeId::kDouble), ""},
      {Type::Decimal(9, 2), "1.005"},
      {Type::Decimal(9, 2), "10000000"},
      {Type::Decimal(9, 2), "1e999"},
      {Type::Decimal(9, 2), "1e"},
      {Of(TypeId::kDate), "2024-02-30"},
      {Of(TypeId::kDate), "2024-01-31T00:00:00"},
      {Of(TypeId::kDate), "24-01-31"},
      {Of(TypeId::kTime), "22:60"},
      {Of(TypeId::kTime), "22:31:08.1234567"},
      {Of(TypeId::kTimestamp), "2024-01-31T10:00:00+02:00"},
      {Of(TypeId::kTimestamp), "2024-01-31T"},
      {Of(TypeId::kTimestampNs), "2300-01-01"},
      {Of(TypeId::kUuid), "f79c3e09-677c-4bbd-a479_3f349cb785e7"},
      {Type::Fixed(2), "00"},
      {Of(TypeId::kBinary), "0"}};
  for (const auto& [type, text] : cases) {
    EXPECT_THAT(
        LiteralFromText(type, text),
        HasError(Code::kInvalidArgument, "cannot read '" + text + "' as " + type.ToString()));
  }
}

TEST(Literal, DecimalTextPutsThePoint) {
  EXPECT_EQ(DecimalText(12345, 2), "123.45");
  EXPECT_EQ(DecimalText(-5, 3), "-0.005");
  EXPECT_EQ(DecimalText(0, 0), "0");
  EXPECT_EQ(DecimalText(0, 2), "0.00");
  const Int128 least = -(Int128{1} << 126) * 2;
  EXPECT_EQ(DecimalText(least, 0), "-170141183460469231731687303715884105728");
}

TEST(Literal, RandomValuesSurviveEveryForm) {
  std::mt19937_64 random(7);
  const Type types[] = {Of(TypeId::kLong), Of(TypeId::kTimestamp), Of(TypeId::kTimestampTzNs)};
  for (int i = 0; i < 3000; ++i) {
    const Type& type = types[i % 3];
    const Literal value = static_cast<std::int64_t>(random()) >> (random() % 40);
    EXPECT_THAT(FromBytes(type, ToBytes(type, value)), IsOkAndHolds(value));
    EXPECT_THAT(LiteralFromJson(type, ToJson(type, value)), IsOkAndHolds(value));
    EXPECT_THAT(LiteralFromText(type, ToHuman(type, value)), IsOkAndHolds(value));
    const Type decimal = Type::Decimal(38, static_cast<int>(random() % 39));
    const Int128 unscaled = (Int128{static_cast<std::int64_t>(random())} << 62) >> (random() % 126);
    EXPECT_THAT(FromBytes(decimal, ToBytes(decimal, unscaled)), IsOkAndHolds(Literal(unscaled)));
    EXPECT_THAT(LiteralFromJson(decimal, ToJson(decimal, unscaled)),
                IsOkAndHolds(Literal(unscaled)));
    EXPECT_THAT(LiteralFromText(decimal, ToHuman(decimal, unscaled)),
                IsOkAndHolds(Literal(unscaled)));
  }
}

}  // namespace
}  // namespace icewright
