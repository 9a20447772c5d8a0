#pragma once

/// \file config/config_node.h
/// A section of icewright.yaml that a module reads for itself.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace icewright {

/// Text, a list or a map, with the place it was written at. Secrets are resolved; `secret` says
/// that the text came from one and must not be shown. A plain value.
struct ConfigNode {
  enum class Kind : std::uint8_t { kText, kList, kMap };

  Kind kind = Kind::kText;
  std::string text = {};               ///< kText
  std::vector<ConfigNode> items = {};  ///< kList
  std::vector<std::pair<std::string, ConfigNode>> members =
      {};                  ///< kMap, in the order of the file.
  std::string place = {};  ///< "icewright.yaml:12"
  bool secret = false;
};

}  // namespace icewright
