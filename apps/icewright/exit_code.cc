#include "icewright/exit_code.h"

namespace icewright::cli {

ExitCode ExitCodeFor(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return ExitCode::kUsage;
    case Code::kConflict:
      return ExitCode::kConflict;
    case Code::kCommitUnknown:
      return ExitCode::kCommitUnknown;
    case Code::kCancelled:
      return ExitCode::kCancelled;
    case Code::kLockHeld:
    case Code::kLockLost:
      return ExitCode::kLock;
    case Code::kExhausted:
      return ExitCode::kOverBudget;
    case Code::kCorrupt:
    case Code::kUnsupported:
      return ExitCode::kCorruptOrUnsupported;
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kUnavailable:
    case Code::kIo:
    case Code::kDenied:
    case Code::kInternal:
      break;
  }
  return ExitCode::kFailed;
}

}  // namespace icewright::cli
