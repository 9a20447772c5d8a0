#include "catalog/catalog.h"

#include "catalog/table_name.h"

namespace icewright {

std::string ToString(const Namespace& ns) {
  std::string text;
  for (const std::string& level : ns) {
    if (&level != &ns.front()) text += '.';
    text += level;
  }
  return text;
}

std::string ToString(const TableIdentifier& id) {
  return id.ns.empty() ? id.name : ToString(id.ns) + "." + id.name;
}

std::string DisplayName(std::string_view catalog, const TableIdentifier& id) {
  std::string text(catalog);
  if (catalog.find_first_of("/:") == std::string_view::npos) {
    text += '.';
  } else if (!catalog.ends_with('/')) {
    text += '/';
  }
  return text + ToString(id);
}

}  // namespace icewright
