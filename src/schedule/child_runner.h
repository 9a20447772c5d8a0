#pragma once

/// \file schedule/child_runner.h
/// Runs each task in a process of its own: a bad file, a crash or a lack of memory ends that
/// process only.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "schedule/child_protocol.h"
#include "schedule/task_runner.h"

namespace icewright {

/// A process that serves one task, and the pipe to it.
class ChildProcess {
 public:
  virtual ~ChildProcess() = default;
  virtual LineChannel& channel() = 0;
  virtual void Kill() = 0;
  /// After the end of its pipe. Empty: it ended well; else how: "signal 9".
  virtual std::string Wait() = 0;
  /// Unset: not known.
  virtual std::optional<std::int64_t> ResidentBytes() = 0;
};
using SpawnChild = std::function<Result<std::unique_ptr<ChildProcess>>()>;

/// `program` with the argument "task", in a process group of its own. It dies with this process.
Result<std::unique_ptr<ChildProcess>> SpawnTaskProcess(const std::string& program);

/// Thread-safe.
class ChildRunner final : public TaskRunner {
 public:
  explicit ChildRunner(SpawnChild spawn) : spawn_(std::move(spawn)) {}

  /// Preconditions: request.child is set; SIGPIPE is ignored, since a process may die at any time.
  /// The lock stays here: the process asks before it writes. It is killed when it holds more memory
  /// than its limit, or does not stop when it is told to. Errors: those of the task; kExhausted:
  /// killed for its memory; kInternal: it died.
  Status Run(const RunRequest& request, TaskReport& report) override;

  /// A process that was told to stop is killed after this time.
  static constexpr Milliseconds kStopTime{10'000};

 private:
  const SpawnChild spawn_;
};

}  // namespace icewright
