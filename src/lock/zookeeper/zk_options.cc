#include "lock/zookeeper/zk_options.h"

#include <algorithm>
#include <utility>

namespace icewright {
namespace {

constexpr std::pair<std::string_view, ZkRetryPolicy> kNames[] = {
    {"ONE_TIME", ZkRetryPolicy::kOneTime},
    {"N_TIME", ZkRetryPolicy::kNTime},
    {"EXPONENTIAL_BACKOFF", ZkRetryPolicy::kExponentialBackoff},
    {"BOUNDED_EXPONENTIAL_BACKOFF", ZkRetryPolicy::kBoundedExponentialBackoff},
    {"UNTIL_ELAPSED", ZkRetryPolicy::kUntilElapsed},
};

// Curator allows no more: 2^30 is the largest power of two of a Java int.
constexpr int kMaxRetries = 29;

Milliseconds Backoff(Milliseconds base, int retry, Random& random) {
  const std::uint64_t range = std::uint64_t{1} << (retry + 1);
  return base * static_cast<std::int64_t>(std::max<std::uint64_t>(1, random.Next() % range));
}

}  // namespace

Result<ZkRetryPolicy> ParseZkRetryPolicy(std::string_view name) {
  std::string known;
  for (const auto& [text, policy] : kNames) {
    if (text == name) return policy;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return Error(Code::kInvalidArgument,
               "'" + std::string(name) + "' is no retry policy; known are " + known);
}

Status CheckZkOptions(const ZkOptions& options) {
  const Milliseconds none{0};
  if (options.session_timeout < none || options.connection_timeout < none ||
      options.base_sleep < none || options.max_retries < 0) {
    return Error(Code::kInvalidArgument, "timeouts, sleeps and retries cannot be negative");
  }
  if (options.max_sleep < options.base_sleep) {
    return Error(Code::kInvalidArgument, "max-sleep-ms must not be below base-sleep-ms");
  }
  return {};
}

std::optional<Milliseconds> ZkRetrySleep(const ZkOptions& options, int retry, Milliseconds elapsed,
                                         Random& random) {
  const int limit = std::min(options.max_retries, kMaxRetries);
  switch (options.policy) {
    case ZkRetryPolicy::kOneTime:
      if (retry >= 1) return std::nullopt;
      return options.base_sleep;
    case ZkRetryPolicy::kNTime:
      if (retry >= options.max_retries) return std::nullopt;
      return options.base_sleep;
    case ZkRetryPolicy::kExponentialBackoff:
      if (retry >= limit) return std::nullopt;
      return Backoff(options.base_sleep, retry, random);
    case ZkRetryPolicy::kBoundedExponentialBackoff:
      if (retry >= limit) return std::nullopt;
      return std::min(options.max_sleep, Backoff(options.base_sleep, retry, random));
    case ZkRetryPolicy::kUntilElapsed:
      break;
  }
  if (elapsed >= options.max_sleep) return std::nullopt;
  return options.base_sleep;
}

}  // namespace icewright
