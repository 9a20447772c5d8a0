#include "io/file_io.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace icewright {

std::vector<DeleteFailure> FileIO::DeleteFiles(std::span<const Location> locations) {
  std::vector<DeleteFailure> failures;
  for (const Location& location : locations) {
    if (Status status = Delete(location); !status) failures.push_back({location, status.error()});
  }
  return failures;
}

Result<std::vector<std::string>> FileIO::ListDirectly(
    const Location& folder, const std::function<Status(const FileStatus&)>& visit) {
  const std::size_t base = folder.Child("").text().size();
  std::set<std::string> folders;
  IW_TRY(List(folder, [&](const FileStatus& file) -> Status {
    const std::string& path = file.location.text();
    if (path.size() < base) return visit(file);  // the folder is a file
    const std::size_t slash = path.find('/', base);
    if (slash == std::string::npos) return visit(file);
    folders.insert(path.substr(base, slash - base));
    return {};
  }));
  return std::vector<std::string>(folders.begin(), folders.end());
}

Status FileIO::Move(const Location& from, const Location& to) {
  constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
  IW_ASSIGN(const auto source, Open(from));
  IW_ASSIGN(const auto target, Create(to, CreateMode::kAtomicNew));
  Bytes buffer(kCopyBytes, '\0');
  for (std::int64_t offset = 0;;) {
    IW_ASSIGN(const std::size_t got, source->ReadAt(offset, buffer));
    if (got == 0) break;
    IW_TRY(target->Append(std::string_view(buffer).substr(0, got)));
    offset += static_cast<std::int64_t>(got);
  }
  IW_TRY(target->Close());
  const Status deleted = Delete(from);
  if (!deleted) {
    // The answer may have been lost, and the copy be all there is: it goes only if it is not.
    const auto still_there = Exists(from);
    if (still_there && *still_there) (void)Delete(to);
  }
  return deleted;
}

Status FileIO::DeleteEmptyFolder(const Location& folder) {
  return List(folder, [&](const FileStatus& file) -> Status {
    return Error(Code::kInvalidArgument,
                 folder.text() + " is not empty: it has " + file.location.text());
  });
}

Result<Bytes> ReadFile(FileIO& io, const Location& location, std::int64_t limit_bytes) {
  IW_ASSIGN(const auto file, io.Open(location));
  IW_ASSIGN(const std::int64_t size, file->Size());
  if (size > limit_bytes) {
    return Error(Code::kExhausted, location.text() + " has " + std::to_string(size) +
                                       " bytes; at most " + std::to_string(limit_bytes) +
                                       " are read");
  }
  Bytes bytes(static_cast<std::size_t>(size), '\0');
  IW_ASSIGN(const std::size_t got, file->ReadAt(0, bytes));
  bytes.resize(got);
  return bytes;
}

Status WriteFile(FileIO& io, const Location& location, ByteView bytes, CreateMode mode) {
  IW_ASSIGN(const auto file, io.Create(location, mode));
  IW_TRY(file->Append(bytes));
  return file->Close();
}

InputFileSource::InputFileSource(InputFile& file, std::int64_t offset, std::size_t buffer_bytes)
    : file_(file), offset_(offset), buffer_(std::max<std::size_t>(buffer_bytes, 1), '\0') {}

Result<std::size_t> InputFileSource::Read(std::span<char> out) {
  if (out.empty()) return std::size_t{0};
  if (position_ == filled_) {
    // A read as large as the buffer gains nothing from a copy through it.
    const bool direct = out.size() >= buffer_.size();
    IW_ASSIGN(const std::size_t got, file_.ReadAt(offset_, direct ? out : std::span(buffer_)));
    offset_ += static_cast<std::int64_t>(got);
    if (direct) return got;
    position_ = 0;
    filled_ = got;
  }
  const std::size_t n = std::min(out.size(), filled_ - position_);
  std::memcpy(out.data(), buffer_.data() + position_, n);
  position_ += n;
  return n;
}

}  // namespace icewright
