#include "commit/retry_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace icewright {
namespace {

constexpr std::string_view kNumRetries = "commit.retry.num-retries";
constexpr std::string_view kMinWait = "commit.retry.min-wait-ms";
constexpr std::string_view kMaxWait = "commit.retry.max-wait-ms";
constexpr std::string_view kTotalTimeout = "commit.retry.total-timeout-ms";

Result<std::int64_t> NotNegative(const Properties& properties, std::string_view key,
                                 std::int64_t default_value) {
  IW_ASSIGN(const std::int64_t value, IntProperty(properties, key, default_value));
  if (value < 0) {
    return Error(Code::kInvalidArgument, fmt::format("{} must not be negative: {}", key, value));
  }
  return value;
}

}  // namespace

Result<RetryPolicy> RetryPolicy::Of(const Properties& properties) {
  RetryPolicy policy;
  if (properties.contains(std::string(kNumRetries))) {
    IW_ASSIGN(policy.num_retries, NotNegative(properties, kNumRetries, 0));
  }
  IW_ASSIGN(const std::int64_t min_wait,
            NotNegative(properties, kMinWait, policy.min_wait.count()));
  IW_ASSIGN(const std::int64_t max_wait,
            NotNegative(properties, kMaxWait, policy.max_wait.count()));
  IW_ASSIGN(const std::int64_t timeout,
            NotNegative(properties, kTotalTimeout, policy.total_timeout.count()));
  policy.min_wait = Milliseconds(min_wait);
  policy.max_wait = Milliseconds(max_wait);
  policy.total_timeout = Milliseconds(timeout);
  return policy;
}

bool MayRetry(const RetryPolicy& policy, int attempts, Milliseconds elapsed) {
  if (policy.num_retries && attempts > *policy.num_retries) return false;
  return attempts <= 1 || elapsed <= policy.total_timeout;
}

Milliseconds WaitAfter(const RetryPolicy& policy, int attempts, double unit) {
  const double doubled =
      static_cast<double>(policy.min_wait.count()) * std::exp2(std::max(attempts - 1, 0));
  const double wait = std::min(doubled, static_cast<double>(policy.max_wait.count()));
  return Milliseconds(static_cast<std::int64_t>(wait + 0.1 * wait * unit));
}

Status CommitRetry::WaitOrGiveUp(RunContext& run, const Error& lost) {
  const Milliseconds elapsed = run.Now() - start_;
  if (!MayRetry(policy_, attempts_, elapsed)) {
    return lost.Within(
        fmt::format("gave up after {} attempts in {} ms", attempts_, elapsed.count()));
  }
  return run.SleepFor(WaitAfter(policy_, attempts_, run.random().NextUnit()));
}

}  // namespace icewright
