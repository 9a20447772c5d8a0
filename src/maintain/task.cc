#include "maintain/task.h"

namespace icewright {

std::string_view Name(TaskOutcome outcome) {
  switch (outcome) {
    case TaskOutcome::kDone:
      return "done";
    case TaskOutcome::kNothingToDo:
      return "nothing-to-do";
    case TaskOutcome::kPlanned:
      return "planned";
    case TaskOutcome::kPartial:
      return "partial";
    case TaskOutcome::kFailed:
      break;
  }
  return "failed";
}

}  // namespace icewright
