#include "config/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing/matchers.h"

namespace icewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::optional<std::string> NoEnv(std::string_view) { return std::nullopt; }

Result<ConfigFile> Parse(std::string_view yaml, const std::vector<std::string>& environment = {}) {
  return ParseConfig(
      yaml, "icewright.yaml",
      [](std::string_view name) -> std::optional<std::string> {
        if (name == "PASSWORD") return "from-env";
        return std::nullopt;
      },
      environment);
}

TEST(ConfigFileTest, ReadsCatalogsAndResolvesSecrets) {
  const std::string path = ::testing::TempDir() + "/icewright-secret";
  std::ofstream(path) << "from-file\nsecond line\n";
  IW_ASSERT_OK_AND_ASSIGN(const ConfigFile config,
                          Parse("catalog:\n"
                                "  prod:\n"
                                "    type: jdbc\n"
                                "    jdbc.password: ${env:PASSWORD}\n"
                                "    a: ${file:" +
                                path +
                                "}\n"
                                "    b: ${command:echo from-command}\n"
                                "  local: {type: hadoop, warehouse: /w}\n"));
  EXPECT_THAT(config.catalogs.at("prod"),
              ElementsAre(Pair("a", "from-file"), Pair("b", "from-command"),
                          Pair("jdbc.password", "from-env"), Pair("type", "jdbc")));
  EXPECT_THAT(config.catalogs.at("local"),
              ElementsAre(Pair("type", "hadoop"), Pair("warehouse", "/w")));
}

TEST(ConfigFileTest, TheEnvironmentOverrides) {
  IW_ASSERT_OK_AND_ASSIGN(
      const ConfigFile config,
      Parse("catalog: {Prod: {uri: old, warehouse: /w}}",
            {"ICEWRIGHT_CATALOG__PROD__URI=new", "ICEWRIGHT_CATALOG__PROD__S3__ACCESS_KEY_ID=k=1",
             "ICEWRIGHT_CATALOG__OTHER__TYPE=hadoop", "ICEWRIGHT_CATALOG=x", "PATH=/bin"}));
  EXPECT_THAT(config.catalogs.at("Prod"), ElementsAre(Pair("s3.access-key-id", "k=1"),
                                                      Pair("uri", "new"), Pair("warehouse", "/w")));
  EXPECT_THAT(config.catalogs.at("other"), ElementsAre(Pair("type", "hadoop")));
}

TEST(ConfigFileTest, ErrorsNameTheLine) {
  EXPECT_THAT(Parse("catalogue:\n  x: {}\n"),
              HasError(Code::kInvalidArgument,
                       "icewright.yaml:1: unknown section 'catalogue'; did you mean 'catalog'?"));
  EXPECT_THAT(Parse("catalog:\n  prod: jdbc\n"),
              HasError(Code::kInvalidArgument, HasSubstr(":2: ")));
  EXPECT_THAT(Parse("catalog:\n  prod:\n    uri: [1]\n"),
              HasError(Code::kInvalidArgument, HasSubstr(":3: property 'uri'")));
  EXPECT_THAT(Parse("catalog: {"), HasError(Code::kInvalidArgument, HasSubstr("icewright.yaml:")));
  EXPECT_THAT(Parse(""), IsOk());
}

TEST(ResolveSecretTest, ErrorsNameTheSourceAndNeverTheValue) {
  EXPECT_THAT(ResolveSecret("plain $text", NoEnv), IsOkAndHolds("plain $text"));
  EXPECT_THAT(ResolveSecret("${env:NONE}", NoEnv), HasError(Code::kNotFound, HasSubstr("NONE")));
  EXPECT_THAT(ResolveSecret("${file:/no/such}", NoEnv),
              HasError(Code::kNotFound, HasSubstr("/no/such")));
  EXPECT_THAT(ResolveSecret("${command:echo hush; exit 3}", NoEnv),
              HasError(Code::kNotFound, HasSubstr("failed")));
  EXPECT_THAT(ResolveSecret("${vault:x}", NoEnv), HasCode(Code::kInvalidArgument));
}

}  // namespace
}  // namespace icewright
