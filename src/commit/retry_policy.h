#pragma once

/// \file commit/retry_policy.h
/// When a lost commit race is tried again, and how long to wait before.
///
/// Java twin: Tasks.exponentialBackoff with the table's commit.retry.* properties.

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/run_context.h"
#include "table/metadata.h"

namespace icewright {

/// The commit.retry.* properties of a table.
struct RetryPolicy {
  /// Unset if the table does not set commit.retry.num-retries: only the timeout ends the retries,
  /// since a table under steady writes beats the four retries of Java for no good reason.
  std::optional<std::int64_t> num_retries = {};
  Milliseconds min_wait{100};
  Milliseconds max_wait{60'000};
  Milliseconds total_timeout{1'800'000};

  /// Errors: kInvalidArgument, naming a property that is no number or negative.
  static Result<RetryPolicy> Of(const Properties& properties);
};

/// True if one more attempt is allowed after `attempts` lost ones. The timeout is not looked at
/// before the second loss, as in Java.
bool MayRetry(const RetryPolicy& policy, int attempts, Milliseconds elapsed);

/// The wait after `attempts` lost ones: min_wait, doubled each time up to max_wait, plus up to 10
/// %. `unit` in [0, 1) chooses the extra.
Milliseconds WaitAfter(const RetryPolicy& policy, int attempts, double unit);

/// Counts the attempts of one commit and waits between them. Single-threaded.
class CommitRetry {
 public:
  CommitRetry(const RunContext& run, RetryPolicy policy) : policy_(policy), start_(run.Now()) {}

  int attempts() const { return attempts_; }
  void CountAttempt() { ++attempts_; }

  /// Waits and returns success if the lost attempt may be repeated; else `lost`, with the number of
  /// attempts. Errors: also those of run.SleepFor.
  Status WaitOrGiveUp(RunContext& run, const Error& lost);

 private:
  RetryPolicy policy_;
  TimePoint start_;
  int attempts_ = 0;
};

}  // namespace icewright
