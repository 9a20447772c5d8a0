#include "io/spill_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace icewright {

Result<SpillFolder> SpillFolder::Make(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(parent);
  std::string path = (base / "icewright-sort-XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return Error(Code::kIo, "no folder for temporary files in " + base.string());
  }
  return SpillFolder(std::move(path));
}

SpillFolder::SpillFolder(SpillFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), count_(other.count_) {}

SpillFolder& SpillFolder::operator=(SpillFolder&& other) noexcept {
  if (this != &other) {
    RemoveAll();
    path_ = std::exchange(other.path_, {});
    count_ = other.count_;
  }
  return *this;
}

SpillFolder::~SpillFolder() { RemoveAll(); }

void SpillFolder::RemoveAll() {
  if (path_.empty()) return;
  std::error_code ignored;  // nothing can be done about a temporary folder that stays
  std::filesystem::remove_all(path_, ignored);
}

std::string SpillFolder::NewFile() { return path_ + "/run-" + std::to_string(count_++); }

void SpillFolder::Remove(const std::string& file) {
  std::error_code ignored;  // it goes with the folder
  std::filesystem::remove(file, ignored);
}

}  // namespace icewright
