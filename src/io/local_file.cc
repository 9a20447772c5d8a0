#include "io/local_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace icewright::local {
namespace {

constexpr std::size_t kWriteBufferBytes = 256 << 10;

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { Close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  // 0, or the errno.
  int Close() {
    if (fd_ < 0) return 0;
    return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

class LocalInputFile final : public InputFile {
 public:
  LocalInputFile(Location location, std::string path, Descriptor fd,
                 std::optional<std::int64_t> size)
      : location_(std::move(location)), path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  const Location& location() const override { return location_; }

  Result<std::int64_t> Size() override {
    if (size_) return *size_;
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return SystemError(errno, "stat", path_);
    return static_cast<std::int64_t>(status.st_size);
  }

  Result<std::size_t> ReadAt(std::int64_t offset, std::span<char> out) override {
    if (offset < 0) return Error(Code::kInvalidArgument, location_.text() + ": negative offset");
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t n = ::pread(fd_.get(), out.data() + done, out.size() - done,
                                offset + static_cast<std::int64_t>(done));
      if (n == 0) break;
      if (n < 0) {
        if (errno == EINTR) continue;
        return SystemError(errno, "read", path_);
      }
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  Location location_;
  std::string path_;
  Descriptor fd_;
  std::optional<std::int64_t> size_;
};

Status WriteAll(int fd, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return SystemError(errno, "write", path);
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

std::string FolderOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A rename is durable once its folder is.
Status SyncFolder(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return SystemError(errno, "open", folder);
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return SystemError(errno, "sync", folder);
  }
  return {};
}

class LocalOutputFile final : public OutputFile {
 public:
  // `written_path` differs from `path` in the atomic modes.
  LocalOutputFile(Location location, std::string path, std::string written_path, Descriptor fd,
                  CreateMode mode)
      : location_(std::move(location)),
        path_(std::move(path)),
        written_path_(std::move(written_path)),
        fd_(std::move(fd)),
        mode_(mode) {
    buffer_.reserve(kWriteBufferBytes);
  }

  ~LocalOutputFile() override {
    if (published_) return;
    fd_.Close();
    ::unlink(written_path_.c_str());
  }

  const Location& location() const override { return location_; }
  std::int64_t bytes_written() const override { return written_; }

  Status Append(ByteView bytes) override {
    if (!fd_.is_open()) return Error(Code::kInternal, path_ + ": written after Close()");
    if (buffer_.size() + bytes.size() > kWriteBufferBytes) IW_TRY(Flush());
    if (bytes.size() >= kWriteBufferBytes) {
      IW_TRY(WriteAll(fd_.get(), bytes, path_));
    } else {
      buffer_.append(bytes);
    }
    written_ += static_cast<std::int64_t>(bytes.size());
    return {};
  }

  Status Close() override {
    if (!fd_.is_open()) return Error(Code::kInternal, path_ + ": closed twice");
    IW_TRY(Flush());
    if (::fdatasync(fd_.get()) != 0 && errno != EINVAL) return SystemError(errno, "sync", path_);
    if (const int e = fd_.Close(); e != 0) return SystemError(e, "close", path_);
    // Before the new bytes appear: a file without a checksum is read, one with a wrong one is not.
    ::unlink(ChecksumPathOf(path_).c_str());
    if (mode_ == CreateMode::kNew) {
      published_ = true;
      return {};
    }
    const int e = mode_ == CreateMode::kAtomicNew ? MoveToFreeName(written_path_, path_)
                  : ::rename(written_path_.c_str(), path_.c_str()) == 0 ? 0
                                                                        : errno;
    if (e != 0) return SystemError(e, "create", path_);
    published_ = true;
    return SyncFolder(FolderOf(path_));
  }

 private:
  Status Flush() {
    IW_TRY(WriteAll(fd_.get(), buffer_, path_));
    buffer_.clear();
    return {};
  }

  Location location_;
  std::string path_;
  std::string written_path_;
  Descriptor fd_;
  CreateMode mode_;
  Bytes buffer_;
  std::int64_t written_ = 0;
  bool published_ = false;
};

std::string TemporaryPathFor(const std::string& path) {
  static std::atomic<std::uint64_t> counter{0};
  return path + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

// Opens a file that must not exist; makes its folder if that is missing. -1 with errno set.
int OpenFresh(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int fd = ::open(path.c_str(), kFlags, 0666);
  if (fd >= 0 || errno != ENOENT) return fd;
  std::error_code ec;
  std::filesystem::create_directories(FolderOf(path), ec);
  if (ec) {
    errno = ec.value();
    return -1;
  }
  return ::open(path.c_str(), kFlags, 0666);
}

bool IsTaken(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

int MoveToFreeName(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // File systems without it (NFS, some FUSE) have link(2), which never replaces either.
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

Error SystemError(int error_number, const char* step, const std::string& path) {
  Code code = Code::kIo;
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      code = Code::kNotFound;
      break;
    case EEXIST:
      code = Code::kAlreadyExists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = Code::kDenied;
      break;
    case EAGAIN:
    case ESTALE:
    case ETIMEDOUT:
      code = Code::kUnavailable;
      break;
    default:
      break;
  }
  return {code, std::string(step) + " " + path + ": " +
                    std::error_code(error_number, std::generic_category()).message()};
}

std::string ChecksumPathOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash + 1) + "." + path.substr(slash + 1) + ".crc";
}

Result<std::unique_ptr<InputFile>> OpenInput(Location location, const std::string& path,
                                             std::optional<std::int64_t> size) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return SystemError(errno, "open", path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return SystemError(errno, "stat", path);
  if (S_ISDIR(status.st_mode)) return Error(Code::kNotFound, path + " is a folder, not a file");
  return std::make_unique<LocalInputFile>(std::move(location), path, std::move(fd), size);
}

Result<std::unique_ptr<OutputFile>> OpenOutput(Location location, std::string path,
                                               CreateMode mode) {
  if (mode == CreateMode::kAtomicNew && IsTaken(path)) return SystemError(EEXIST, "create", path);
  for (;;) {
    std::string written_path = mode == CreateMode::kNew ? path : TemporaryPathFor(path);
    Descriptor fd(OpenFresh(written_path));
    if (fd.is_open()) {
      return std::make_unique<LocalOutputFile>(std::move(location), std::move(path),
                                               std::move(written_path), std::move(fd), mode);
    }
    // A temporary name is taken only by the leftover of a dead process with our id.
    if (errno == EEXIST && mode != CreateMode::kNew) continue;
    return SystemError(errno, "create", path);
  }
}

}  // namespace icewright::local
