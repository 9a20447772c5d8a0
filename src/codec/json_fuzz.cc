// Any bytes as JSON; what parses must survive a dump and a second parse.

#include <cstdint>
#include <cstdlib>

#include "codec/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json =
      icewright::ParseJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const std::string text = icewright::DumpJson(*json);
  const auto again = icewright::ParseJson(text);
  if (!again || icewright::DumpJson(*again) != text) std::abort();
  return 0;
}
