#include "data/splice/group_loader.h"

#include <algorithm>

#include "base/executor.h"

namespace icewright::splice {
namespace {

constexpr std::int64_t kReadAcross = 256 << 10;  // a gap that is cheaper to read than to skip

}  // namespace

void GroupLoader::Clear() {
  files_.clear();
  by_input_.clear();
}

void GroupLoader::Want(const Input& input, const FileRange& range) {
  if (range.size == 0) return;
  const auto [at, added] = by_input_.try_emplace(&input, files_.size());
  if (added) files_.push_back({.input = &input, .wanted = {}, .pieces = {}});
  files_[at->second].wanted.push_back(range);
}

void GroupLoader::Coalesce(File& file) {
  std::sort(file.wanted.begin(), file.wanted.end(),
            [](const FileRange& a, const FileRange& b) { return a.offset < b.offset; });
  for (const FileRange& range : file.wanted) {
    if (!file.pieces.empty()) {
      FileRange& last = file.pieces.back().range;
      const std::int64_t last_end = last.offset + last.size;
      if (range.offset <= last_end + kReadAcross) {
        last.size = std::max(last_end, range.offset + range.size) - last.offset;
        continue;
      }
    }
    file.pieces.push_back({.range = range});
  }
}

Status GroupLoader::ReadFile(FileIO& io, const File& file) {
  const std::string step = "read " + file.input->name;
  auto opened = io.Open(file.input->task->data_file.file_path, file.input->size);
  if (!opened) return opened.error().Within(step);
  for (const Piece& piece : file.pieces) {
    const auto size = static_cast<std::size_t>(piece.range.size);
    auto read = (*opened)->ReadAt(piece.range.offset, {arena_.data() + piece.at, size});
    if (!read) return read.error().Within(step);
    if (*read != size) {
      return Error(Code::kCorrupt, step + ": the file is shorter than its footer says");
    }
  }
  return {};
}

Status GroupLoader::Load(RunContext& run, FileIO& io, int threads) {
  std::size_t total = 0;
  for (File& file : files_) {
    Coalesce(file);
    for (Piece& piece : file.pieces) {
      piece.at = total;
      total += static_cast<std::size_t>(piece.range.size);
    }
  }
  if (total + kSlack > arena_.capacity()) {
    if (memory_.bytes() == 0) {
      IW_ASSIGN(memory_, run.memory().Reserve(static_cast<std::int64_t>(total + kSlack),
                                              "pages of a row group"));
    } else {
      IW_TRY(memory_.Resize(static_cast<std::int64_t>(total + kSlack)));
    }
    arena_.Free();
  }
  arena_.Resize(total);
  bytes_read_ += static_cast<std::int64_t>(total);
  return ParallelFor(run, files_.size(), threads,
                     [&](std::size_t i) { return ReadFile(io, files_[i]); });
}

ByteView GroupLoader::Get(const Input& input, const FileRange& range) const {
  if (range.size == 0) return {};
  const auto at = by_input_.find(&input);
  if (at == by_input_.end()) return {};
  for (const Piece& piece : files_[at->second].pieces) {
    const std::int64_t skip = range.offset - piece.range.offset;
    if (skip < 0 || skip + range.size > piece.range.size) continue;
    return arena_.view().substr(piece.at + static_cast<std::size_t>(skip),
                                static_cast<std::size_t>(range.size));
  }
  return {};
}

}  // namespace icewright::splice
