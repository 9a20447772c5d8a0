// The program: connects the command line to the process it runs in.

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "icewright/cli.h"

extern char** environ;

namespace {

std::optional<std::string> GetEnvironment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// Ctrl-C and SIGTERM ask the run to stop; the second one ends the process at once. They are polled,
// since a handler could not touch the stop state safely.
class SignalWatch {
 public:
  SignalWatch() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);  // before any thread is made: all inherit it
    std::signal(SIGPIPE, SIG_IGN);
    ticker_.emplace(icewright::Milliseconds(20), [this] { Poll(); });
  }

  std::stop_token stop() const { return source_.get_token(); }
  icewright::cli::Hangups& hangups() { return hangups_; }

 private:
  void Poll() {
    const timespec none{};
    for (int signal; (signal = sigtimedwait(&signals_, nullptr, &none)) > 0;) {
      if (signal == SIGHUP && hangups_.wanted) {
        ++hangups_.count;
        continue;
      }
      if (!source_.request_stop()) std::_Exit(130);
    }
  }

  icewright::cli::Hangups hangups_;
  sigset_t signals_{};
  std::stop_source source_;
  std::optional<icewright::Ticker> ticker_;
};

// A service is idle most of the time, and its runs are processes of their own: one heap, from which
// what a busy moment took goes back. Before any thread is made: each would get a heap.
void KeepMemorySmall(int argc, char** argv) {
  const auto is = [&](std::string_view word) {
    return std::any_of(argv + 1, argv + argc, [&](const char* arg) { return arg == word; });
  };
  if (!is("run") || is("--in-process")) return;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    KeepMemorySmall(argc, argv);
    SignalWatch signals;
    icewright::cli::Env env{.out = std::cout,
                            .err = std::cerr,
                            .err_is_terminal = isatty(STDERR_FILENO) == 1,
                            .stop = signals.stop(),
                            .get_env = GetEnvironment,
                            .hangups = &signals.hangups()};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      env.environment.emplace_back(*variable);
    }
    return icewright::cli::RunCommandLine(env, std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    std::cerr << "icewright: unexpected exception: " << e.what() << '\n';
    return 1;
  }
}
