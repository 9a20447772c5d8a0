#pragma once

/// \file testing/temp_folder.h
/// A folder for one test, gone afterwards.

#include <string>
#include <string_view>

#include "base/location.h"

namespace icewright {

/// Makes a fresh folder below the machine's temporary one; the destructor removes it with all in
/// it. Aborts the test program if the folder cannot be made. Movable.
class TempFolder {
 public:
  TempFolder();
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&&) = delete;
  ~TempFolder();

  /// Absolute, without a trailing slash.
  const std::string& path() const { return path_; }

  /// "file:" and the path: how table metadata spells it.
  Location location() const { return Location("file:" + path_); }
  Location Child(std::string_view relative) const { return location().Child(relative); }

 private:
  std::string path_;
};

}  // namespace icewright
