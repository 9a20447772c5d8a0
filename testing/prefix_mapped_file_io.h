#pragma once

/// \file testing/prefix_mapped_file_io.h
/// Shows a folder under another name: recorded absolute locations lead to a copy elsewhere.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_io.h"

namespace icewright {

struct PrefixMapping {
  std::string from;  ///< As locations spell it, without a trailing slash.
  std::string to;    ///< What the base FileIO gets instead.
};

enum class MappedAccess : std::uint8_t {
  kReadOnly,  ///< Changes below a mapped prefix are kDenied.
  kReadWrite,
};

/// The first mapping whose `from` is the location or a folder above it wins; other locations pass
/// unchanged. Listings and open files show the location as it was asked for. Thread-safe.
std::shared_ptr<FileIO> MakePrefixMappedFileIO(std::shared_ptr<FileIO> base,
                                               std::vector<PrefixMapping> mappings,
                                               MappedAccess access);

}  // namespace icewright
