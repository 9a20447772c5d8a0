#pragma once

/// \file testing/fault_file_io.h
/// A FileIO that counts every call to the outside and lets a test fail, or do something at, call N.
///
///   for (int step = 0;; ++step) {             // the failure sweep
///     auto io = std::make_shared<FaultFileIO>(MakeLocalFileIO());
///     io->FailAt(step);
///     ... run the operation, check what must hold whatever failed ...
///     if (io->calls() <= step) break;         // no step was left to fail
///   }

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_io.h"

namespace icewright {

enum class IoCall : std::uint8_t {
  kOpen,
  kSize,
  kRead,
  kCreate,
  kAppend,
  kClose,
  kExists,
  kDelete,
  kList,
  kListFolders,
  kDeleteEmptyFolder,
  kDeleteFolder,
  kMakeFolder,
};
std::string_view Name(IoCall call);

struct IoEvent {
  IoCall call;
  Location location;
  friend bool operator==(const IoEvent&, const IoEvent&) = default;
};

/// Thread-safe.
class FaultFileIO final : public FileIO {
 public:
  enum class When : std::uint8_t {
    kBefore,  ///< The call does nothing.
    kAfter,   ///< The call takes effect; its answer is lost.
  };

  explicit FaultFileIO(std::shared_ptr<FileIO> base);
  ~FaultFileIO() override;

  /// Call number `n` (from 0, counted from the start) fails with `error`.
  void FailAt(int n, Error error = Error(Code::kIo, "injected failure"), When when = When::kBefore);

  /// Call number `n` and all later ones fail: the storage is gone.
  void FailFrom(int n, Error error = Error(Code::kIo, "injected failure"));

  /// Asked before each call; an error becomes the call's. May commit from elsewhere, stop the run,
  /// end the process. Called without a lock held. `n` is the call's number.
  void OnCall(std::function<Status(int n, const IoEvent&)> hook);

  /// Calls so far.
  int calls() const;
  std::vector<IoEvent> events() const;

  /// Files whose Close() succeeded, and files whose Delete() did, in order.
  std::vector<Location> created() const;
  std::vector<Location> deleted() const;

  Result<std::unique_ptr<InputFile>> Open(const Location& location,
                                          std::optional<std::int64_t> size = {}) override;
  Result<std::unique_ptr<OutputFile>> Create(const Location& location, CreateMode mode) override;
  Result<bool> Exists(const Location& location) override;
  Status Delete(const Location& location) override;
  Status List(const Location& prefix,
              const std::function<Status(const FileStatus&)>& visit) override;
  Result<std::vector<std::string>> ListFolders(const Location& folder) override;
  Status DeleteEmptyFolder(const Location& folder) override;
  Status DeleteFolder(const Location& folder) override;
  Status MakeFolder(const Location& folder) override;

 private:
  class State;
  std::shared_ptr<FileIO> base_;
  std::shared_ptr<State> state_;  // shared with the open files
};

}  // namespace icewright
