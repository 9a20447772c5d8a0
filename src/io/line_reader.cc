#include "io/line_reader.h"

#include <algorithm>

namespace icewright {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

}  // namespace

Error LineReader::Corrupt(std::string_view what) const {
  return {Code::kCorrupt, file_->location().text() + ": line " + std::to_string(number_) + ": " +
                              std::string(what)};
}

Result<bool> LineReader::Next(std::string& line) {
  line.clear();
  ++number_;
  for (;;) {
    const std::size_t end = buffer_.find('\n', position_);
    const std::size_t stop = std::min(end, buffer_.size());
    line.append(buffer_, position_, stop - position_);
    if (line.size() > max_line_bytes_) return Corrupt("the line is too long");
    if (end != Bytes::npos) {
      position_ = end + 1;
      return true;
    }
    buffer_.resize(kBufferBytes);
    IW_ASSIGN(const std::size_t got, source_->Read(buffer_));
    buffer_.resize(got);
    position_ = 0;
    if (got > 0) continue;
    is_whole_ = line.empty();
    if (line.empty()) --number_;
    return !line.empty();
  }
}

}  // namespace icewright
