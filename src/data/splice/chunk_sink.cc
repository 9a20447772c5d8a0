#include "data/splice/chunk_sink.h"

namespace icewright::splice {

void ChunkSink::Begin(RunContext& run, ByteSink* file) {
  run_ = &run;
  file_ = file;
  pieces_.clear();
  held_.Clear();
}

Status ChunkSink::Append(ByteView bytes) {
  if (file_ != nullptr) return file_->Append(bytes);
  if (bytes.empty()) return {};
  const std::size_t before = held_.capacity();
  held_.Append(bytes);
  if (held_.capacity() > before) {
    const auto size = static_cast<std::int64_t>(held_.capacity());
    if (memory_.bytes() > 0) {
      IW_TRY(memory_.Resize(size));
    } else {
      IW_ASSIGN(memory_, run_->memory().Reserve(size, "pages of a column"));
    }
  }
  if (pieces_.empty() || pieces_.back().lasting != nullptr) pieces_.emplace_back();
  pieces_.back().size += bytes.size();
  return {};
}

Status ChunkSink::AppendLasting(ByteView bytes) {
  if (file_ != nullptr) return file_->Append(bytes);
  if (!bytes.empty()) pieces_.push_back({.lasting = bytes.data(), .size = bytes.size()});
  return {};
}

Status ChunkSink::Flush(ByteSink& file) {
  std::size_t at = 0;
  for (const Piece& piece : pieces_) {
    if (piece.lasting != nullptr) {
      IW_TRY(file.Append({piece.lasting, piece.size}));
      continue;
    }
    IW_TRY(file.Append(held_.view().substr(at, piece.size)));
    at += piece.size;
  }
  return {};
}

}  // namespace icewright::splice
