#pragma once

/// \file icewright/exit_code.h
/// Exit codes of the program: part of its interface.

#include "base/result.h"

namespace icewright::cli {

enum class ExitCode : int {
  kOk = 0,  ///< Done, or nothing to do.
  kFailed = 1,
  kUsage = 2,
  kConflict = 3,
  kPartial = 4,
  kCommitUnknown = 5,
  kCancelled = 6,
  kLock = 7,  ///< Held by another, or lost.
  kOverBudget = 8,
  kCorruptOrUnsupported = 9,
};

ExitCode ExitCodeFor(Code code);

}  // namespace icewright::cli
