#include "io/memory_file_io.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace icewright {
namespace {

struct StoredFile {
  std::shared_ptr<const Bytes> bytes;
  TimePoint modified;
};

// Shared by the FileIO and the files opened through it, which may outlive it. Thread-safe.
class MemoryStore {
 public:
  explicit MemoryStore(Clock* clock) : clock_(clock) {}

  std::shared_ptr<const Bytes> Find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto it = files_.find(key);
    return it == files_.end() ? nullptr : it->second.bytes;
  }

  // False if the name is taken and must be free.
  bool Put(const std::string& key, Bytes bytes, bool replace) {
    StoredFile file{std::make_shared<const Bytes>(std::move(bytes)), clock_->Now()};
    const std::scoped_lock lock(mutex_);
    if (!replace && files_.contains(key)) return false;
    files_.insert_or_assign(key, std::move(file));
    return true;
  }

  void Erase(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    files_.erase(key);
  }

  // `folder` ends in '/'.
  void EraseBelow(const std::string& folder) {
    const std::scoped_lock lock(mutex_);
    auto it = files_.lower_bound(folder);
    while (it != files_.end() && it->first.starts_with(folder)) it = files_.erase(it);
  }

  // A copy: visitors may call back into the store.
  std::vector<std::pair<std::string, StoredFile>> Below(const std::string& folder) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::pair<std::string, StoredFile>> found;
    for (auto it = files_.lower_bound(folder); it != files_.end() && it->first.starts_with(folder);
         ++it) {
      found.emplace_back(it->first, it->second);
    }
    return found;
  }

  std::optional<StoredFile> Stat(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto it = files_.find(key);
    if (it == files_.end()) return std::nullopt;
    return it->second;
  }

 private:
  Clock* clock_;
  std::mutex mutex_;
  std::map<std::string, StoredFile> files_;  // guarded by mutex_
};

class MemoryInputFile final : public InputFile {
 public:
  MemoryInputFile(Location location, std::shared_ptr<const Bytes> bytes)
      : location_(std::move(location)), bytes_(std::move(bytes)) {}

  const Location& location() const override { return location_; }
  Result<std::int64_t> Size() override { return static_cast<std::int64_t>(bytes_->size()); }

  Result<std::size_t> ReadAt(std::int64_t offset, std::span<char> out) override {
    if (offset < 0) return Error(Code::kInvalidArgument, location_.text() + ": negative offset");
    const auto start = std::min(static_cast<std::size_t>(offset), bytes_->size());
    const std::size_t n = std::min(out.size(), bytes_->size() - start);
    if (n > 0) std::memcpy(out.data(), bytes_->data() + start, n);
    return n;
  }

 private:
  Location location_;
  std::shared_ptr<const Bytes> bytes_;
};

Error NameTaken(const Location& location) {
  return {Code::kAlreadyExists, location.text() + " already exists"};
}

class MemoryOutputFile final : public OutputFile {
 public:
  MemoryOutputFile(std::shared_ptr<MemoryStore> store, Location location, CreateMode mode)
      : store_(std::move(store)), location_(std::move(location)), mode_(mode) {}

  const Location& location() const override { return location_; }
  std::int64_t bytes_written() const override { return written_; }

  Status Append(ByteView bytes) override {
    if (closed_) return Error(Code::kInternal, location_.text() + ": written after Close()");
    bytes_.append(bytes);
    written_ += static_cast<std::int64_t>(bytes.size());
    return {};
  }

  Status Close() override {
    if (closed_) return Error(Code::kInternal, location_.text() + ": closed twice");
    closed_ = true;
    if (!store_->Put(location_.text(), std::move(bytes_), mode_ == CreateMode::kAtomicReplace)) {
      return NameTaken(location_);
    }
    return {};
  }

 private:
  std::shared_ptr<MemoryStore> store_;
  Location location_;
  CreateMode mode_;
  Bytes bytes_;
  std::int64_t written_ = 0;
  bool closed_ = false;
};

std::string AsFolder(const Location& folder) { return folder.Child("").text(); }

class MemoryFileIO final : public FileIO {
 public:
  explicit MemoryFileIO(Clock* clock) : store_(std::make_shared<MemoryStore>(clock)) {}

  Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                          std::optional<std::int64_t>) override {
    auto bytes = store_->Find(location.text());
    if (bytes == nullptr) return Error(Code::kNotFound, location.text() + " does not exist");
    return std::make_unique<MemoryInputFile>(location, std::move(bytes));
  }

  Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) override {
    if (location.empty() || location.text().ends_with('/')) {
      return Error(Code::kInvalidArgument, "'" + location.text() + "' does not name a file");
    }
    if (mode != CreateMode::kAtomicReplace && store_->Find(location.text()) != nullptr) {
      return NameTaken(location);
    }
    return std::make_unique<MemoryOutputFile>(store_, location, mode);
  }

  Result<bool> Exists(const Location& location) override {
    return store_->Find(location.text()) != nullptr;
  }

  Status Delete(const Location& location) override {
    store_->Erase(location.text());
    return {};
  }

  Status List(const Location& prefix,
              const std::function<Status(const FileStatus&)>& visit) override {
    const auto show = [&](const std::string& key, const StoredFile& file) {
      return visit({Location(key), static_cast<std::int64_t>(file.bytes->size()), file.modified});
    };
    if (const auto self = store_->Stat(prefix.text())) IW_TRY(show(prefix.text(), *self));
    for (const auto& [key, file] : store_->Below(AsFolder(prefix))) IW_TRY(show(key, file));
    return {};
  }

  Result<std::vector<std::string>> ListFolders(const Location& folder) override {
    const std::string prefix = AsFolder(folder);
    std::set<std::string> names;
    for (const auto& [key, file] : store_->Below(prefix)) {
      const auto slash = key.find('/', prefix.size());
      if (slash != std::string::npos) {
        names.insert(key.substr(prefix.size(), slash - prefix.size()));
      }
    }
    return std::vector<std::string>(names.begin(), names.end());
  }

  Status DeleteFolder(const Location& folder) override {
    store_->EraseBelow(AsFolder(folder));
    return {};
  }

  Status MakeFolder(const Location&) override { return {}; }

 private:
  std::shared_ptr<MemoryStore> store_;
};

}  // namespace

std::shared_ptr<FileIO> MakeMemoryFileIO(Clock* clock) {
  return std::make_shared<MemoryFileIO>(clock);
}

}  // namespace icewright
