#include "base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace icewright {
namespace {

TEST(NearestNameTest, FindsSlipsOfTheKeyboardOnly) {
  const std::vector<std::string_view> names = {"min-input-files", "max-file-size-bytes", "filter"};
  EXPECT_EQ(NearestName("min-imput-file", names), "min-input-files");
  EXPECT_EQ(NearestName("FILTRE", names), "filter");
  EXPECT_EQ(NearestName("warehouse", names), std::nullopt);
  EXPECT_EQ(DidYouMean("fliter", names), "; did you mean 'filter'?");
  EXPECT_EQ(DidYouMean("warehouse", names), "");
}

}  // namespace
}  // namespace icewright
