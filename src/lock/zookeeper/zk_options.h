#pragma once

/// \file lock/zookeeper/zk_options.h
/// How a ZooKeeper lock connects and retries: the settings and policies of Curator.
///
/// Java twin: ZKRetryPolicies.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace icewright {

enum class ZkRetryPolicy : std::uint8_t {
  kOneTime,             ///< One retry after base_sleep.
  kNTime,               ///< max_retries, each after base_sleep.
  kExponentialBackoff,  ///< max_retries, sleeps grow at random; max_sleep does not bound them.
  kBoundedExponentialBackoff,
  kUntilElapsed,  ///< After base_sleep, until max_sleep has passed in all.
};

struct ZkOptions {
  std::string connect = {};  ///< "host:port,host:port/chroot"
  Milliseconds session_timeout{60'000};
  Milliseconds connection_timeout{15'000};
  Milliseconds base_sleep{3'000};
  Milliseconds max_sleep{10'000};
  int max_retries = 3;
  ZkRetryPolicy policy = ZkRetryPolicy::kExponentialBackoff;
};

/// The names of the configuration: ONE_TIME, N_TIME, EXPONENTIAL_BACKOFF,
/// BOUNDED_EXPONENTIAL_BACKOFF, UNTIL_ELAPSED. Errors: kInvalidArgument.
Result<ZkRetryPolicy> ParseZkRetryPolicy(std::string_view name);

/// Errors: kInvalidArgument for numbers below 0, and max_sleep below base_sleep.
Status CheckZkOptions(const ZkOptions& options);

/// The pause before retry number `retry` (from 0), `elapsed` after the first try; unset: give up.
std::optional<Milliseconds> ZkRetrySleep(const ZkOptions& options, int retry, Milliseconds elapsed,
                                         Random& random);

}  // namespace icewright
