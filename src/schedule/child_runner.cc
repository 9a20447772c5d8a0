#include "schedule/child_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/executor.h"
#include "config/units.h"
#include "schedule/run_guard.h"

extern char** environ;

namespace icewright {
namespace {

constexpr Milliseconds kWatchInterval{100};

class TaskProcess final : public ChildProcess {
 public:
  TaskProcess(pid_t pid, int in, int out) : pid_(pid), channel_(in, out) {}
  ~TaskProcess() override {
    if (waited_) return;
    Kill();
    (void)Wait();
  }

  LineChannel& channel() override { return channel_; }
  void Kill() override { ::kill(pid_, SIGKILL); }

  std::string Wait() override {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return fmt::format("exit code {}", WEXITSTATUS(status));
    return {};
  }

  std::optional<std::int64_t> ResidentBytes() override {
    std::ifstream in(fmt::format("/proc/{}/statm", pid_));
    std::int64_t all = 0;
    std::int64_t resident = 0;
    if (!(in >> all >> resident)) return {};
    return resident * ::sysconf(_SC_PAGESIZE);
  }

 private:
  const pid_t pid_;
  LineChannel channel_;
  bool waited_ = false;
};

Error SpawnError(std::string_view what, int number) {
  return {Code::kUnavailable,
          fmt::format("a process for the task: {}: {}", what, std::strerror(number))};
}

// Kills a process that holds too much, or does not stop.
class Watchdog {
 public:
  Watchdog(ChildProcess& child, std::int64_t memory_limit, const std::stop_token& stop)
      : child_(child),
        memory_limit_(memory_limit),
        stop_(stop),
        ticker_(kWatchInterval, [this] { Look(); }) {}

  bool outgrew() const { return outgrew_; }

 private:
  void Look() {
    if (memory_limit_ != MemoryBudget::kUnlimited) {
      const auto resident = child_.ResidentBytes();
      if (resident && *resident > memory_limit_) {
        outgrew_ = true;
        child_.Kill();
      }
    }
    if (stop_.stop_requested() && ++stopping_ > ChildRunner::kStopTime / kWatchInterval) {
      child_.Kill();
    }
  }

  ChildProcess& child_;
  const std::int64_t memory_limit_;
  const std::stop_token stop_;
  std::atomic<bool> outgrew_{false};
  int stopping_ = 0;
  Ticker ticker_;
};

// Until the process has told its result or is gone.
std::optional<ChildDone> Attend(LineChannel& channel, RunGuard& guard, RunView* view) {
  while (const auto line = channel.Read()) {
    auto message = ParseFromChild(*line);
    if (!message) return {};
    if (auto* progress = std::get_if<Progress::View>(&*message)) {
      if (view != nullptr) view->Tell(std::move(*progress));
    } else if (auto* done = std::get_if<ChildDone>(&*message)) {
      return std::move(*done);
    } else if (!channel.Write(ToJson(ToChild(guard.MayWrite())))) {
      return {};
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> SpawnTaskProcess(const std::string& program) {
  std::array<int, 2> down{};  // service -> task
  std::array<int, 2> up{};    // task -> service
  if (::pipe2(down.data(), O_CLOEXEC) != 0) return SpawnError("pipe", errno);
  if (::pipe2(up.data(), O_CLOEXEC) != 0) {
    const int number = errno;
    for (const int fd : down) ::close(fd);
    return SpawnError("pipe", number);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is for the service, which tells its tasks
  std::string name = program;
  std::string command = "task";
  std::array<char*, 3> arguments = {name.data(), command.data(), nullptr};
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(down[0]);
  ::close(up[1]);
  if (failed != 0) {
    ::close(down[1]);
    ::close(up[0]);
    return SpawnError(program, failed);
  }
  return std::make_unique<TaskProcess>(pid, up[0], down[1]);
}

Status ChildRunner::Run(const RunRequest& request, TaskReport& report) {
  RunGuard guard(request);
  IW_ASSIGN(const auto child, spawn_());
  LineChannel& channel = child->channel();
  std::optional<ChildDone> done;
  bool outgrew = false;
  {
    const Watchdog watchdog(*child, request.memory_limit_bytes, guard.stop());
    if (channel.Write(ToJson(*request.child))) {
      const std::stop_callback tell(guard.stop(), [&] {
        (void)channel.Write(ToJson(ToChild(guard.reason()->load())));  // gone: Attend notices
      });
      done = Attend(channel, guard, request.view);
    }
    channel.CloseOut();
    if (!done) child->Kill();
    outgrew = watchdog.outgrew();
  }
  const std::string ended = child->Wait();
  if (request.view != nullptr) request.view->Tell({});
  if (done) {
    report = std::move(done->report);
    return done->status;
  }
  if (outgrew) {
    return Error(Code::kExhausted,
                 fmt::format("the task's process was ended: it held more than its {}",
                             FormatByteSize(request.memory_limit_bytes)));
  }
  return Error(Code::kInternal, fmt::format("the task's process died: {}", ended));
}

}  // namespace icewright
