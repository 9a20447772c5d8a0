// Any bytes: parsing ends in a value or an error; what was parsed is written and read again equal.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "table/metadata.h"
#include "table/name_mapping.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace icewright;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(NameMapping::Parse(bytes).has_value());
  const auto metadata = ParseTableMetadata(bytes, "fuzz");
  if (!metadata) return 0;
  for (const Schema& schema : metadata->schemas) {
    static_cast<void>(schema.Find("a", /*case_sensitive=*/false));
  }
  for (const PartitionSpec& spec : metadata->partition_specs) {
    static_cast<void>(spec.PartitionType(metadata->schema()).ToString());
  }
  const std::string written = SerializeTableMetadata(*metadata);
  const auto again = ParseTableMetadata(written, "again");
  if (!again || SerializeTableMetadata(*again) != written) std::abort();
  return 0;
}
