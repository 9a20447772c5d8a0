#include "schedule/child_task.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "base/executor_pool.h"
#include "base/guarded.h"
#include "icewright/table_loader.h"
#include "schedule/child_protocol.h"

namespace icewright {
namespace {

constexpr Milliseconds kProgressInterval{200};

// Listens to the service while the task works.
class Service {
 public:
  explicit Service(LineChannel& channel) : channel_(channel), listener_(1) {
    listener_.Submit([this] { Listen(); });
  }

  std::stop_token stop() const { return source_.get_token(); }
  const std::atomic<StopReason>* reason() const { return &reason_; }

  Status MayWrite() {
    const std::scoped_lock one_question(asking_);
    std::unique_lock lock(mutex_);
    answer_.reset();
    lock.unlock();
    if (!channel_.Write(ToJson(FromChild(MayWriteQuestion())))) return Gone();
    lock.lock();
    changed_.wait(lock, [&] { return answer_ || ended_; });
    return answer_ ? *answer_ : Gone();
  }

 private:
  static Error Gone() { return {Code::kLockLost, "the service that holds the lock is gone"}; }

  void Stop(StopReason reason) {
    if (source_.stop_requested()) return;
    reason_.store(reason);
    source_.request_stop();
  }

  void Listen() {
    while (const auto line = channel_.Read()) {
      auto message = ParseToChild(*line);
      if (!message) break;
      if (const auto* reason = std::get_if<StopReason>(&*message)) {
        Stop(*reason);
        continue;
      }
      const std::scoped_lock lock(mutex_);
      answer_ = std::get<Status>(*message);
      changed_.notify_all();
    }
    Stop(StopReason::kLockLost);
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  LineChannel& channel_;
  std::atomic<StopReason> reason_{StopReason::kCancelled};
  std::stop_source source_;
  std::mutex asking_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> answer_;  // guarded by mutex_
  bool ended_ = false;            // guarded by mutex_
  WorkerPool listener_;           // last: its thread ends with the pipe
};

Status RunRequested(const ChildRequest& request, RunContext& run, TaskReport& report) {
  const TaskType* type = FindTaskType(request.task);
  if (type == nullptr) {
    return Error(Code::kInvalidArgument, "there is no task '" + request.task + "'");
  }
  IW_ASSIGN(const auto task, type->make(request.options));
  IW_ASSIGN(Table table,
            TableLoader::FromCatalog(request.catalog, request.properties, request.table).Load(run));
  return task->Execute(run, table, report);
}

}  // namespace

Status ServeChildTask(int in, int out) {
  LineChannel channel(in, out);
  const auto line = channel.Read();
  if (!line) return Error(Code::kInvalidArgument, "no request: this command is for the service");
  const auto request = ParseChildRequest(*line);
  if (!request) {
    return Error(Code::kInvalidArgument,
                 "no request: this command is for the service: " + request.error().message());
  }
  Service service(channel);
  ChildDone done;
  {
    RunContext run({.stop = service.stop(),
                    .stop_reason = service.reason(),
                    .memory_limit_bytes = request->memory_limit_bytes,
                    .threads = request->threads,
                    .may_write = [&service] { return service.MayWrite(); }});
    const Ticker progress(kProgressInterval, [&] {
      (void)channel.Write(
          ToJson(FromChild(run.progress().Read())));  // nobody there: Listen notices
    });
    done.status = Guarded([&] { return RunRequested(*request, run, done.report); });
  }
  const bool told = channel.Write(ToJson(FromChild(std::move(done))));
  channel.CloseOut();
  if (!told) return Error(Code::kLockLost, "the service is gone");
  return {};
}

}  // namespace icewright
