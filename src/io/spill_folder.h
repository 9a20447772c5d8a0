#pragma once

/// \file io/spill_folder.h
/// Where a run puts what does not fit into memory: a folder on the local disk.

#include <string>

#include "base/result.h"

namespace icewright {

/// A folder of its own that goes with everything in it. Single-threaded.
class SpillFolder {
 public:
  /// In `parent`; empty: the system's folder for temporary files. Errors: kIo.
  static Result<SpillFolder> Make(const std::string& parent);
  SpillFolder(SpillFolder&& other) noexcept;
  SpillFolder& operator=(SpillFolder&& other) noexcept;
  ~SpillFolder();

  /// A path that is not in use.
  std::string NewFile();
  void Remove(const std::string& file);

 private:
  explicit SpillFolder(std::string path) : path_(std::move(path)) {}
  void RemoveAll();
  std::string path_;  // empty: moved from
  int count_ = 0;
};

}  // namespace icewright
