#include "icewright/service/idle_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace icewright::cli {
namespace {

// Resident KiB of mapped files.
long ResidentFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "RssFile:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  return -1;
}

TEST(IdleMemoryTest, CodeThatRanOnceGoesAndTheRestComesBack) {
  const long before = ResidentFiles();
  ASSERT_GT(before, 0);
  GiveIdleMemoryBack();
  const long after = ResidentFiles();
  EXPECT_LT(after, before - 2048) << "the libraries' start-up alone is more";
  GiveIdleMemoryBack();
  EXPECT_NEAR(static_cast<double>(ResidentFiles()), static_cast<double>(after), 4096);
}

}  // namespace
}  // namespace icewright::cli
