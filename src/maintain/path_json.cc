#include "maintain/path_json.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace icewright {
namespace {

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// DumpJson replaces what is no UTF-8: another file would be named.
bool FitsJson(const std::string& path) {
  if (IsAscii(path)) return true;
  const auto back = ParseJson(DumpJson(Json(path)));
  return back && back->is_string() && back->get_ref<const std::string&>() == path;
}

}  // namespace

void AppendPath(const Location& path, Json& array) {
  if (FitsJson(path.text())) {
    array.push_back(path.text());
  } else {
    array.push_back(nullptr);
    array.push_back(ToHex(path.text()));
  }
}

std::optional<Location> PathFromJson(const Json& array, std::size_t position) {
  Location path;
  if (array.size() == position + 1 && array[position].is_string()) {
    path = Location(array[position].get<std::string>());
  } else if (array.size() == position + 2 && array[position].is_null() &&
             array[position + 1].is_string()) {
    auto bytes = FromHex(array[position + 1].get_ref<const std::string&>());
    if (!bytes) return std::nullopt;
    path = Location(std::move(*bytes));
  }
  if (path.empty()) return std::nullopt;
  return path;
}

}  // namespace icewright
