#include "maintain/plan_again.h"

namespace icewright {
namespace {

// Another writer that merges manifests all the time could send us back for ever.
constexpr int kMostPlans = 5;

}  // namespace

Status PlanUntilCommitted(RunContext& run, Table& table, TaskReport& report,
                          const std::function<Status(bool& stale)>& attempt) {
  for (int plans = 1;; ++plans) {
    IW_TRY(table.Refresh(run));
    if (table.metadata().is_encrypted()) {
      return Error(Code::kUnsupported, "the table is encrypted; this build does not write to it");
    }
    bool stale = false;
    const Status done = attempt(stale);
    if (done || done.error().code() != Code::kConflict || !stale || plans == kMostPlans) {
      return done;
    }
    report.notes.push_back("planned again: " + done.error().message());
  }
}

bool HasMoved(const Table& table, const std::string& branch, SnapshotId planned_on) {
  const Snapshot* head = table.metadata().FindRef(branch);
  return head != nullptr && head->id != planned_on;
}

}  // namespace icewright
