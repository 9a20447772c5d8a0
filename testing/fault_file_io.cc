#include "testing/fault_file_io.h"

#include <limits>
#include <optional>
#include <utility>

namespace icewright {

std::string_view Name(IoCall call) {
  switch (call) {
    case IoCall::kOpen:
      return "Open";
    case IoCall::kSize:
      return "Size";
    case IoCall::kRead:
      return "Read";
    case IoCall::kCreate:
      return "Create";
    case IoCall::kAppend:
      return "Append";
    case IoCall::kClose:
      return "Close";
    case IoCall::kExists:
      return "Exists";
    case IoCall::kDelete:
      return "Delete";
    case IoCall::kList:
      return "List";
    case IoCall::kListFolders:
      return "ListFolders";
    case IoCall::kDeleteEmptyFolder:
      return "DeleteEmptyFolder";
    case IoCall::kDeleteFolder:
      return "DeleteFolder";
    case IoCall::kMakeFolder:
      return "MakeFolder";
  }
  return "?";
}

class FaultFileIO::State {
 public:
  // Counts the call and runs it, unless this is the one to fail.
  template <typename T>
  Result<T> Around(IoCall call, const Location& location, const std::function<Result<T>()>& fn) {
    int n = 0;
    std::function<Status(int, const IoEvent&)> hook;
    std::optional<Error> error;
    bool takes_effect = false;
    const IoEvent event{call, location};
    {
      const std::scoped_lock lock(mutex);
      n = static_cast<int>(events.size());
      events.push_back(event);
      hook = on_call;
      if (n >= fail_from && n <= fail_to) error = failure;
      takes_effect = when == When::kAfter;
    }
    if (hook) IW_TRY(hook(n, event));
    const auto place = [&] {
      return std::string(Name(call)) + " " + location.text() + " (call " + std::to_string(n) + ")";
    };
    if (error && !takes_effect) return error->Within(place());
    Result<T> result = fn();
    if (result) {
      const std::scoped_lock lock(mutex);
      if (call == IoCall::kClose) created.push_back(location);
      if (call == IoCall::kDelete) deleted.push_back(location);
    }
    if (error) return error->Within(place());
    return result;
  }

  mutable std::mutex mutex;  // guards all below
  std::vector<IoEvent> events;
  std::vector<Location> created;
  std::vector<Location> deleted;
  std::function<Status(int, const IoEvent&)> on_call;
  int fail_from = std::numeric_limits<int>::max();
  int fail_to = -1;
  When when = When::kBefore;
  Error failure{Code::kIo, "injected failure"};
};

namespace {

template <typename State>
class FaultInputFile final : public InputFile {
 public:
  FaultInputFile(std::unique_ptr<InputFile> base, std::shared_ptr<State> state)
      : base_(std::move(base)), state_(std::move(state)) {}

  const Location& location() const override { return base_->location(); }

  Result<std::int64_t> Size() override {
    return state_->template Around<std::int64_t>(IoCall::kSize, location(),
                                                 [&] { return base_->Size(); });
  }

  Result<std::size_t> ReadAt(std::int64_t offset, std::span<char> out) override {
    return state_->template Around<std::size_t>(IoCall::kRead, location(),
                                                [&] { return base_->ReadAt(offset, out); });
  }

 private:
  std::unique_ptr<InputFile> base_;
  std::shared_ptr<State> state_;
};

template <typename State>
class FaultOutputFile final : public OutputFile {
 public:
  FaultOutputFile(std::unique_ptr<OutputFile> base, std::shared_ptr<State> state)
      : base_(std::move(base)), state_(std::move(state)) {}

  const Location& location() const override { return base_->location(); }
  std::int64_t bytes_written() const override { return base_->bytes_written(); }

  Status Append(ByteView bytes) override {
    return state_->template Around<void>(IoCall::kAppend, location(),
                                         [&] { return base_->Append(bytes); });
  }

  Status Close() override {
    return state_->template Around<void>(IoCall::kClose, location(),
                                         [&] { return base_->Close(); });
  }

 private:
  std::unique_ptr<OutputFile> base_;
  std::shared_ptr<State> state_;
};

}  // namespace

FaultFileIO::FaultFileIO(std::shared_ptr<FileIO> base)
    : base_(std::move(base)), state_(std::make_shared<State>()) {}

FaultFileIO::~FaultFileIO() = default;

void FaultFileIO::FailAt(int n, Error error, When when) {
  const std::scoped_lock lock(state_->mutex);
  state_->fail_from = n;
  state_->fail_to = n;
  state_->failure = std::move(error);
  state_->when = when;
}

void FaultFileIO::FailFrom(int n, Error error) {
  FailAt(n, std::move(error));
  const std::scoped_lock lock(state_->mutex);
  state_->fail_to = std::numeric_limits<int>::max();
}

void FaultFileIO::OnCall(std::function<Status(int, const IoEvent&)> hook) {
  const std::scoped_lock lock(state_->mutex);
  state_->on_call = std::move(hook);
}

int FaultFileIO::calls() const {
  const std::scoped_lock lock(state_->mutex);
  return static_cast<int>(state_->events.size());
}

std::vector<IoEvent> FaultFileIO::events() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->events;
}

std::vector<Location> FaultFileIO::created() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->created;
}

std::vector<Location> FaultFileIO::deleted() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->deleted;
}

Result<std::unique_ptr<InputFile>> FaultFileIO::Open(const Location& location,
                                                     std::optional<std::int64_t> size) {
  using File = std::unique_ptr<InputFile>;
  return state_->Around<File>(IoCall::kOpen, location, [&]() -> Result<File> {
    IW_ASSIGN(File file, base_->Open(location, size));
    return std::make_unique<FaultInputFile<State>>(std::move(file), state_);
  });
}

Result<std::unique_ptr<OutputFile>> FaultFileIO::Create(const Location& location, CreateMode mode) {
  using File = std::unique_ptr<OutputFile>;
  return state_->Around<File>(IoCall::kCreate, location, [&]() -> Result<File> {
    IW_ASSIGN(File file, base_->Create(location, mode));
    return std::make_unique<FaultOutputFile<State>>(std::move(file), state_);
  });
}

Result<bool> FaultFileIO::Exists(const Location& location) {
  return state_->Around<bool>(IoCall::kExists, location, [&] { return base_->Exists(location); });
}

Status FaultFileIO::Delete(const Location& location) {
  return state_->Around<void>(IoCall::kDelete, location, [&] { return base_->Delete(location); });
}

Status FaultFileIO::List(const Location& prefix,
                         const std::function<Status(const FileStatus&)>& visit) {
  return state_->Around<void>(IoCall::kList, prefix, [&] { return base_->List(prefix, visit); });
}

Result<std::vector<std::string>> FaultFileIO::ListFolders(const Location& folder) {
  return state_->Around<std::vector<std::string>>(IoCall::kListFolders, folder,
                                                  [&] { return base_->ListFolders(folder); });
}

Status FaultFileIO::DeleteEmptyFolder(const Location& folder) {
  return state_->Around<void>(IoCall::kDeleteEmptyFolder, folder,
                              [&] { return base_->DeleteEmptyFolder(folder); });
}

Status FaultFileIO::DeleteFolder(const Location& folder) {
  return state_->Around<void>(IoCall::kDeleteFolder, folder,
                              [&] { return base_->DeleteFolder(folder); });
}

Status FaultFileIO::MakeFolder(const Location& folder) {
  return state_->Around<void>(IoCall::kMakeFolder, folder,
                              [&] { return base_->MakeFolder(folder); });
}

}  // namespace icewright
