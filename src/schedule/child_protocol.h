#pragma once

/// \file schedule/child_protocol.h
/// What a service and the process of one task say to each other: one JSON object per line.
///
///   service -> task   the request, once; {"answer": ...} to each question; {"stop": reason}
///   task -> service   {"progress": ...}; {"may-write": true}: a question; {"done": ...}, once
///
/// The end of the pipe means the same to both: the other one is gone.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "maintain/task.h"
#include "schedule/task_types.h"

namespace icewright {

/// All that a process needs to run a task. Holds secrets: it travels by the pipe only.
struct ChildRequest {
  std::string catalog = {};
  Properties properties = {};
  TableIdentifier table = {};
  std::string task = {};  ///< Of FindTaskType.
  TaskOptionTexts options = {};
  int threads = 1;
  std::int64_t memory_limit_bytes = MemoryBudget::kUnlimited;
  friend bool operator==(const ChildRequest&, const ChildRequest&) = default;
};

struct ChildDone {
  Status status;
  TaskReport report;  ///< Without items.
};

std::string ToJson(const ChildRequest& request);
Result<ChildRequest> ParseChildRequest(std::string_view line);

struct MayWriteQuestion {};
using FromChild = std::variant<Progress::View, MayWriteQuestion, ChildDone>;
std::string ToJson(const FromChild& message);
Result<FromChild> ParseFromChild(std::string_view line);

using ToChild = std::variant<Status, StopReason>;
std::string ToJson(const ToChild& message);
Result<ToChild> ParseToChild(std::string_view line);

/// Lines over two file descriptors, which it closes. Thread-safe: one reader, many writers.
class LineChannel {
 public:
  LineChannel(int in, int out) : in_(in), out_(out) {}
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;
  ~LineChannel();

  /// Unset: the end. Lines over 64 MiB end it, too.
  std::optional<std::string> Read();
  /// False: the reader is gone.
  bool Write(std::string_view line);
  /// The other side reads its end.
  void CloseOut();

 private:
  const int in_;
  std::string buffer_;
  std::mutex mutex_;
  int out_;  // guarded by mutex_; -1: closed
};

}  // namespace icewright
