#pragma once

/// \file testing/paths.h
/// Where the sources and the build are. Functions, so that only one object file knows the folders
/// and a compiler cache serves every clone.

#include <string>

namespace icewright {

std::string SourceFolder();
std::string BuildFolder();

}  // namespace icewright
