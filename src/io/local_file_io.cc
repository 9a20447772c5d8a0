#include "io/local_file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/local_file.h"

namespace icewright {
namespace {

using local::SystemError;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

bool MeansGone(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

FileStatus StatusOf(Location location, const struct stat& status) {
  const auto since_epoch = std::chrono::seconds(status.st_mtim.tv_sec) +
                           std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return {std::move(location), static_cast<std::int64_t>(status.st_size),
          TimePoint(std::chrono::floor<Milliseconds>(since_epoch))};
}

// Calls fn(name, stat, is_link) for each entry of a folder; entries that vanish meanwhile are left
// out. A dangling link is shown as itself.
Status ForEachEntry(
    const std::string& path,
    const std::function<Status(const char*, const struct stat&, bool is_link)>& fn) {
  const Folder folder(::opendir(path.c_str()));
  if (folder == nullptr) {
    return MeansGone(errno) ? Status{} : Status(SystemError(errno, "list", path));
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    const int fd = ::dirfd(folder.get());
    if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (MeansGone(errno)) continue;
      return SystemError(errno, "stat", path + "/" + entry->d_name);
    }
    const bool is_link = S_ISLNK(status.st_mode);
    struct stat target {};
    if (is_link && ::fstatat(fd, entry->d_name, &target, 0) == 0) status = target;
    IW_TRY(fn(entry->d_name, status, is_link));
  }
  return errno == 0 ? Status{} : Status(SystemError(errno, "list", path));
}

class LocalFileIO final : public FileIO {
 public:
  Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                          std::optional<std::int64_t> size) override {
    IW_ASSIGN(const std::string path, LocalPathOf(location));
    return local::OpenInput(location, path, size);
  }

  Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) override {
    IW_ASSIGN(std::string path, LocalPathOf(location));
    if (path.ends_with('/')) {
      return Error(Code::kInvalidArgument, "'" + location.text() + "' does not name a file");
    }
    return local::OpenOutput(location, std::move(path), mode);
  }

  Result<bool> Exists(const Location& location) override {
    IW_ASSIGN(const std::string path, LocalPathOf(location));
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return !S_ISDIR(status.st_mode);
    if (MeansGone(errno)) return false;
    return SystemError(errno, "stat", path);
  }

  Status Delete(const Location& location) override {
    IW_ASSIGN(const std::string path, LocalPathOf(location));
    if (::unlink(path.c_str()) != 0 && !MeansGone(errno)) {
      const int e = errno;
      std::error_code ec;
      if (std::filesystem::is_directory(path, ec)) {
        return Error(Code::kIo, "delete " + path + ": it is a folder");
      }
      return SystemError(e, "delete", path);
    }
    ::unlink(local::ChecksumPathOf(path).c_str());
    return {};
  }

  // Links to folders are not followed: what lies behind one belongs to somebody else.
  Status List(const Location& prefix,
              const std::function<Status(const FileStatus&)>& visit) override {
    IW_ASSIGN(const std::string root, LocalPathOf(prefix));
    struct stat status {};
    if (::stat(root.c_str(), &status) != 0) {
      return MeansGone(errno) ? Status{} : Status(SystemError(errno, "list", root));
    }
    if (!S_ISDIR(status.st_mode)) return visit(StatusOf(prefix, status));

    std::vector<std::string> pending = {""};  // relative to root, each with a final '/'
    while (!pending.empty()) {
      const std::string relative = std::move(pending.back());
      pending.pop_back();
      IW_TRY(ForEachEntry(root + "/" + relative,
                          [&](const char* name, const struct stat& entry, bool is_link) -> Status {
                            if (!S_ISDIR(entry.st_mode))
                              return visit(StatusOf(prefix.Child(relative + name), entry));
                            if (!is_link) pending.push_back(relative + name + "/");
                            return {};
                          }));
    }
    return {};
  }

  Result<std::vector<std::string>> ListDirectly(
      const Location& folder, const std::function<Status(const FileStatus&)>& visit) override {
    IW_ASSIGN(const std::string path, LocalPathOf(folder));
    std::vector<std::string> folders;
    const auto show = [&](const char* name, const struct stat& entry, bool is_link) -> Status {
      if (!S_ISDIR(entry.st_mode)) return visit(StatusOf(folder.Child(name), entry));
      if (!is_link) folders.emplace_back(name);
      return {};
    };
    IW_TRY(ForEachEntry(path, show));
    std::sort(folders.begin(), folders.end());
    return folders;
  }

  Status Move(const Location& from, const Location& to) override {
    IW_ASSIGN(const std::string old_path, LocalPathOf(from));
    IW_ASSIGN(const std::string new_path, LocalPathOf(to));
    std::error_code ec;
    std::filesystem::create_directories(std::filesystem::path(new_path).parent_path(), ec);
    if (ec) return SystemError(ec.value(), "make the folder of", new_path);
    const int failed = local::MoveToFreeName(old_path, new_path);
    if (failed == EXDEV) return FileIO::Move(from, to);
    if (failed == EEXIST) return Error(Code::kAlreadyExists, to.text() + " already exists");
    if (failed != 0) return SystemError(failed, "move", old_path);
    const std::string checksum = local::ChecksumPathOf(old_path);
    if (local::MoveToFreeName(checksum, local::ChecksumPathOf(new_path)) != 0) {
      ::unlink(checksum.c_str());  // one that stays would be held against a later file of that name
    }
    return {};
  }

  Result<std::vector<std::string>> ListFolders(const Location& folder) override {
    IW_ASSIGN(const std::string path, LocalPathOf(folder));
    std::vector<std::string> names;
    IW_TRY(ForEachEntry(path, [&](const char* name, const struct stat& status, bool) -> Status {
      if (S_ISDIR(status.st_mode)) names.emplace_back(name);
      return {};
    }));
    std::sort(names.begin(), names.end());
    return names;
  }

  Status DeleteEmptyFolder(const Location& folder) override {
    IW_ASSIGN(const std::string path, LocalPathOf(folder));
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
    if (errno == ENOTEMPTY || errno == EEXIST) {
      return Error(Code::kInvalidArgument, path + " is not empty");
    }
    return SystemError(errno, "delete", path);
  }

  Status DeleteFolder(const Location& folder) override {
    IW_ASSIGN(const std::string path, LocalPathOf(folder));
    if (path.find_first_not_of('/') == std::string::npos) {
      return Error(Code::kInvalidArgument, "the root folder is not deleted");
    }
    std::error_code ec;
    std::filesystem::remove_all(path, ec);
    if (ec && !MeansGone(ec.value())) return SystemError(ec.value(), "delete", path);
    return {};
  }

  Status MakeFolder(const Location& folder) override {
    IW_ASSIGN(const std::string path, LocalPathOf(folder));
    std::error_code ec;
    std::filesystem::create_directories(path, ec);
    if (ec) return SystemError(ec.value(), "make folder", path);
    return {};
  }
};

}  // namespace

Result<std::string> LocalPathOf(const Location& location) {
  std::string_view path = location.text();
  if (path.starts_with("file:")) {
    path.remove_prefix(5);
    if (path.starts_with("//localhost/")) {
      path.remove_prefix(std::string_view("//localhost").size());
    } else if (path.starts_with("///")) {
      path.remove_prefix(2);
    } else if (path.starts_with("//")) {
      return Error(Code::kUnsupported, "'" + location.text() + "' is on another host");
    }
  } else if (const auto colon = path.find(':');
             colon != std::string_view::npos && path.find('/') > colon) {
    return Error(Code::kUnsupported, "'" + location.text() + "': scheme '" +
                                         std::string(path.substr(0, colon)) +
                                         "' is not the local file system's");
  }
  if (!path.starts_with('/')) {
    return Error(Code::kInvalidArgument, "'" + location.text() + "' is not an absolute path");
  }
  if (path.find('\0') != std::string_view::npos) {
    return Error(Code::kInvalidArgument, "a path contains a zero byte");
  }
  return std::string(path);
}

std::shared_ptr<FileIO> MakeLocalFileIO() { return std::make_shared<LocalFileIO>(); }

}  // namespace icewright
