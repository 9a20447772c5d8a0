#pragma once

/// \file io/file_io.h
/// Files by location: ranged reads, atomic creation, listing by prefix, bulk delete.
///
/// The interface is made for object stores. Implementations: io/local_file_io.h,
/// io/memory_file_io.h. Java twins: FileIO, SupportsPrefixOperations, SupportsBulkOperations.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/location.h"
#include "base/result.h"

namespace icewright {

/// An open file. Thread-safe: reads carry their offset.
class InputFile {
 public:
  virtual ~InputFile() = default;
  virtual const Location& location() const = 0;
  virtual Result<std::int64_t> Size() = 0;

  /// Fills as much of `out` as the file has from `offset`; returns the number of bytes. Errors:
  /// kIo.
  virtual Result<std::size_t> ReadAt(std::int64_t offset, std::span<char> out) = 0;
};

/// A file being written. Named by nobody before Close() succeeded. Destruction without Close()
/// removes what was written. Single-threaded.
class OutputFile : public ByteSink {
 public:
  virtual const Location& location() const = 0;
  virtual std::int64_t bytes_written() const = 0;

  /// Makes the file durable and visible. Errors: kAlreadyExists (kNew, kAtomicNew: somebody else
  /// has the name; their file is untouched), kIo.
  virtual Status Close() = 0;
};

enum class CreateMode : std::uint8_t {
  kNew,            ///< The name must be free. A crash may leave a partial file.
  kAtomicNew,      ///< The name must be free; the file appears whole or not at all.
  kAtomicReplace,  ///< Replaces a file of that name in one step.
};

struct FileStatus {
  Location location;
  std::int64_t size = 0;
  TimePoint modified{};
};

struct DeleteFailure {
  Location location;
  Error error;
};

/// Thread-safe.
class FileIO {
 public:
  virtual ~FileIO() = default;

  /// `size`, if known, saves a request. Errors: kNotFound, kDenied, kIo, kUnavailable; kUnsupported
  /// for a scheme this FileIO does not serve.
  virtual Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                                  std::optional<std::int64_t> size = {}) = 0;

  /// Missing folders are made. Errors: as Open; kAlreadyExists may come here or from Close().
  virtual Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) = 0;

  /// True for a file; a folder is none.
  virtual Result<bool> Exists(const Location& location) = 0;

  /// A file that is already gone is a success.
  virtual Status Delete(const Location& location) = 0;

  /// Deletes what can be deleted; returns the rest. Never fails as a whole.
  virtual std::vector<DeleteFailure> DeleteFiles(std::span<const Location> locations);

  /// Calls `visit` for each file at or below the folder `prefix`, spelled with the prefix as given;
  /// a missing folder has no files. Order is unspecified. Errors: those of visit, kIo.
  virtual Status List(const Location& prefix,
                      const std::function<Status(const FileStatus&)>& visit) = 0;

  /// Calls `visit` for each file directly in `folder`, spelled with the folder as given; returns
  /// the names of its sub-folders, sorted. Links to folders are neither. Errors: as List.
  virtual Result<std::vector<std::string>> ListDirectly(
      const Location& folder, const std::function<Status(const FileStatus&)>& visit);

  /// Gives a file another name, which must be free. A failure leaves the file where it was, but
  /// after a crash it may be at both places. Errors: kAlreadyExists: the other file is untouched;
  /// kNotFound, kIo.
  virtual Status Move(const Location& from, const Location& to);

  /// Names of direct sub-folders of `folder`, sorted; a missing folder has none.
  virtual Result<std::vector<std::string>> ListFolders(const Location& folder) = 0;

  /// Removes a folder that has nothing in it. Where folders are real, this cannot race with a
  /// writer. Errors: kInvalidArgument if it is not empty; a missing one is a success.
  virtual Status DeleteEmptyFolder(const Location& folder);

  /// Removes a folder and all in it; a missing one is a success.
  virtual Status DeleteFolder(const Location& folder) = 0;

  /// Makes a folder with its parents (object stores: nothing to do).
  virtual Status MakeFolder(const Location& folder) = 0;
};

/// The whole file. `limit_bytes` guards against surprises. Errors: as Open; kExhausted over the
/// limit.
Result<Bytes> ReadFile(FileIO& io, const Location& location,
                       std::int64_t limit_bytes = std::int64_t{1} << 30);

/// Creates, writes, closes.
Status WriteFile(FileIO& io, const Location& location, ByteView bytes, CreateMode mode);

/// Sequential view of a file from `offset`, with a read-ahead buffer. Borrows the file.
class InputFileSource final : public ByteSource {
 public:
  explicit InputFileSource(InputFile& file, std::int64_t offset = 0,
                           std::size_t buffer_bytes = 256 << 10);
  Result<std::size_t> Read(std::span<char> out) override;

 private:
  InputFile& file_;
  std::int64_t offset_;
  Bytes buffer_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace icewright
