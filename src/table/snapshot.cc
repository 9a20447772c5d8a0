#include "table/snapshot.h"

namespace icewright {

const std::string* FindKey(const Summary& summary, std::string_view key) {
  for (const auto& [name, value] : summary) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace icewright
