#pragma once

/// \file maintain/transient_retry.h
/// Asks storage again when it was away for a moment.

#include "base/result.h"
#include "base/run_context.h"

namespace icewright {

inline constexpr int kTransientAttempts = 4;
inline constexpr Milliseconds kFirstTransientWait{100};

/// Calls `call()` until it succeeds or fails for another reason than kUnavailable, at most
/// kTransientAttempts times. Errors: the last one; those of run.SleepFor.
template <typename Call>
auto RetryTransient(RunContext& run, const Call& call) -> decltype(call()) {
  Milliseconds wait = kFirstTransientWait;
  for (int attempt = 1;; ++attempt) {
    auto result = call();
    if (result || !IsRetryable(result.error().code()) || attempt == kTransientAttempts) {
      return result;
    }
    IW_TRY(run.SleepFor(wait));
    wait *= 4;
  }
}

}  // namespace icewright
