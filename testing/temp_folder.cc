#include "testing/temp_folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

namespace icewright {

TempFolder::TempFolder() {
  std::error_code ec;
  path_ = (std::filesystem::temp_directory_path(ec) / "icewright-XXXXXX").string();
  // Servers that tests start may run as another user, who must be able to enter.
  if (ec || ::mkdtemp(path_.data()) == nullptr || ::chmod(path_.c_str(), 0755) != 0) {
    std::cerr << "cannot make a temporary folder " << path_ << "\n";
    std::abort();
  }
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  std::error_code ec;
  std::filesystem::remove_all(path_, ec);
}

}  // namespace icewright
