#include "testing/prefix_mapped_file_io.h"

#include <optional>

namespace icewright {
namespace {

class RenamedInputFile final : public InputFile {
 public:
  RenamedInputFile(Location location, std::unique_ptr<InputFile> base)
      : location_(std::move(location)), base_(std::move(base)) {}
  const Location& location() const override { return location_; }
  Result<std::int64_t> Size() override { return base_->Size(); }
  Result<std::size_t> ReadAt(std::int64_t offset, std::span<char> out) override {
    return base_->ReadAt(offset, out);
  }

 private:
  Location location_;
  std::unique_ptr<InputFile> base_;
};

class RenamedOutputFile final : public OutputFile {
 public:
  RenamedOutputFile(Location location, std::unique_ptr<OutputFile> base)
      : location_(std::move(location)), base_(std::move(base)) {}
  const Location& location() const override { return location_; }
  std::int64_t bytes_written() const override { return base_->bytes_written(); }
  Status Append(ByteView bytes) override { return base_->Append(bytes); }
  Status Close() override { return base_->Close(); }

 private:
  Location location_;
  std::unique_ptr<OutputFile> base_;
};

class PrefixMappedFileIO final : public FileIO {
 public:
  PrefixMappedFileIO(std::shared_ptr<FileIO> base, std::vector<PrefixMapping> mappings,
                     MappedAccess access)
      : base_(std::move(base)), mappings_(std::move(mappings)), access_(access) {}

  Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                          std::optional<std::int64_t> size) override {
    IW_ASSIGN(auto file, base_->Open(Mapped(location), size));
    return std::make_unique<RenamedInputFile>(location, std::move(file));
  }

  Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) override {
    IW_TRY(CheckWritable(location));
    IW_ASSIGN(auto file, base_->Create(Mapped(location), mode));
    return std::make_unique<RenamedOutputFile>(location, std::move(file));
  }

  Result<bool> Exists(const Location& location) override { return base_->Exists(Mapped(location)); }

  Status Delete(const Location& location) override {
    IW_TRY(CheckWritable(location));
    return base_->Delete(Mapped(location));
  }

  Status List(const Location& prefix,
              const std::function<Status(const FileStatus&)>& visit) override {
    const Location mapped = Mapped(prefix);
    return base_->List(mapped, [&](const FileStatus& file) {
      FileStatus shown = file;
      shown.location = Location(prefix.text() + file.location.text().substr(mapped.text().size()));
      return visit(shown);
    });
  }

  Result<std::vector<std::string>> ListFolders(const Location& folder) override {
    return base_->ListFolders(Mapped(folder));
  }

  Status DeleteEmptyFolder(const Location& folder) override {
    IW_TRY(CheckWritable(folder));
    return base_->DeleteEmptyFolder(Mapped(folder));
  }

  Status DeleteFolder(const Location& folder) override {
    IW_TRY(CheckWritable(folder));
    return base_->DeleteFolder(Mapped(folder));
  }

  Status MakeFolder(const Location& folder) override {
    IW_TRY(CheckWritable(folder));
    return base_->MakeFolder(Mapped(folder));
  }

 private:
  const PrefixMapping* Find(const Location& location) const {
    const std::string& text = location.text();
    for (const PrefixMapping& mapping : mappings_) {
      if (text.starts_with(mapping.from) &&
          (text.size() == mapping.from.size() || text[mapping.from.size()] == '/')) {
        return &mapping;
      }
    }
    return nullptr;
  }

  Location Mapped(const Location& location) const {
    const PrefixMapping* mapping = Find(location);
    if (mapping == nullptr) return location;
    return Location(mapping->to + location.text().substr(mapping->from.size()));
  }

  Status CheckWritable(const Location& location) const {
    if (access_ == MappedAccess::kReadWrite || Find(location) == nullptr) return {};
    return Error(Code::kDenied, location.text() + " is a shared fixture; change a copy of it");
  }

  std::shared_ptr<FileIO> base_;
  std::vector<PrefixMapping> mappings_;
  MappedAccess access_;
};

}  // namespace

std::shared_ptr<FileIO> MakePrefixMappedFileIO(std::shared_ptr<FileIO> base,
                                               std::vector<PrefixMapping> mappings,
                                               MappedAccess access) {
  return std::make_shared<PrefixMappedFileIO>(std::move(base), std::move(mappings), access);
}

}  // namespace icewright
