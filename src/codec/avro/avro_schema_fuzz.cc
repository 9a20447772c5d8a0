// Any bytes as an Avro schema; one that parses must skip any value without harm.

#include <cstdint>
#include <cstdlib>

#include "codec/avro/coding.h"
#include "codec/avro/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const icewright::ByteView text(reinterpret_cast<const char*>(data), size);
  const auto schema = icewright::avro::ParseSchema(text);
  if (!schema) return 0;
  if ((*schema)->min_bytes < 0) std::abort();
  icewright::avro::Decoder decoder(text);
  decoder.Skip(**schema);
  if (decoder.ok() &&
      text.size() - decoder.remaining() < static_cast<std::size_t>((*schema)->min_bytes)) {
    std::abort();
  }
  return 0;
}
