// Any bytes as a Puffin file: every blob that the footer names is inside it and may be decoded.

#include <cstdint>
#include <cstdlib>

#include "codec/puffin.h"

using icewright::ByteView;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView file(reinterpret_cast<const char*>(data), size);
  if (size < 12) return 0;
  const auto file_size = static_cast<std::int64_t>(size);
  const auto footer_size = icewright::PuffinFooterSize(file.substr(size - 12), file_size);
  if (!footer_size) return 0;
  const auto footer = icewright::ParsePuffinFooter(
      file.substr(size - static_cast<std::size_t>(*footer_size)), file_size);
  if (!footer) return 0;
  icewright::MemorySink sink;
  icewright::PuffinWriter writer(sink, "fuzz");
  for (const icewright::PuffinBlob& blob : footer->blobs) {
    const ByteView raw =
        file.substr(static_cast<std::size_t>(blob.offset), static_cast<std::size_t>(blob.length));
    if (static_cast<std::int64_t>(raw.size()) != blob.length) std::abort();
    (void)icewright::DecodePuffinBlob(blob, raw, 1 << 18).has_value();
    if (sink.bytes().size() < (1 << 20) && !writer.Add(blob, raw)) std::abort();
  }
  const auto written = writer.Finish();
  if (!written) std::abort();
  const auto again = icewright::ParsePuffinFooter(
      ByteView(sink.bytes()).substr(sink.bytes().size() - static_cast<std::size_t>(*written)),
      static_cast<std::int64_t>(sink.bytes().size()));
  if (!again) std::abort();
  return 0;
}
