#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ostream>

#include "codec/json.h"
#include "icewright/command.h"
#include "icewright/table_lock.h"

namespace icewright::cli {
namespace {

Json TimeJson(const std::optional<TimePoint>& time) {
  if (!time) return {};
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(ToMillis(*time) / 1000));
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json StateJson(const LockState& state) {
  Json json = {{"held", state.held},
               {"owner", TextOrNull(state.owner)},
               {"since", TimeJson(state.since)},
               {"lease", nullptr},
               {"instance", TextOrNull(state.instance)}};
  if (state.lease_until) {
    json["lease"] = {{"until", TimeJson(state.lease_until)}, {"over", state.lease_over}};
  }
  return json;
}

class LockCommand final : public Command {
 public:
  std::string name() const override { return "lock"; }
  std::string help() const override { return "Who holds a maintenance lock; free it by force"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    CLI::App* show = app.add_subcommand("show", "Who holds the lock, since when");
    release_ = app.add_subcommand("release", "Free the lock of a holder that is dead");
    for (CLI::App* sub : {show, release_}) {
      sub->add_option("table", table_, "catalog.namespace.table, or a path");
      flags_.Define(*sub, false);
      sub->fallthrough();  // global options may also follow the command
    }
    release_->add_flag("--force", force_, "also where the holder may be alive");
    release_->add_flag("--recovery", recovery_, "the recovery lock, not the table's lock");
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(const auto lock, OpenTableLock(session, flags_, table_));
    if (!lock) {
      return Error(Code::kInvalidArgument,
                   "no lock is configured: add --lock-uri and --lock-id, or the key "
                   "flink-maintenance.lock.type to the catalog");
    }
    return release_->parsed() ? Release(session, *lock) : Show(session, *lock);
  }

 private:
  static Result<ExitCode> Show(Session& session, const ConfiguredLock& lock) {
    IW_ASSIGN(const LockState table, lock.locks->TableLock()->Inspect());
    IW_ASSIGN(const LockState recovery, lock.locks->RecoveryLock()->Inspect());
    std::vector<std::string> warnings = lock.config.warnings;
    if (auto warning = PlainTextWarning(lock.config)) warnings.push_back(std::move(*warning));
    if (session.json()) {
      Json json = {{"lock_id", lock.lock_id}, {"type", lock.config.type}};
      json.update(StateJson(table));
      json["recovery"] = StateJson(recovery);
      json["diagnosis"] = HolderText(lock.lock_id, table);
      json["warnings"] = warnings;
      PrintJson(session.out(), json);
      return ExitCode::kOk;
    }
    session.out() << HolderText(lock.lock_id, table) << '\n';
    if (recovery.held) {
      session.out() << "recovery: " << HolderText(lock.lock_id, recovery) << '\n';
    }
    return ExitCode::kOk;
  }

  Result<ExitCode> Release(Session& session, const ConfiguredLock& lock) const {
    const auto target = recovery_ ? lock.locks->RecoveryLock() : lock.locks->TableLock();
    IW_ASSIGN(LockState state, target->Inspect());
    if (state.held && !state.lease_over && !force_) {
      return Error(Code::kLockHeld, HolderText(lock.lock_id, state) +
                                        "; --force frees it all the same: make sure that its "
                                        "holder is dead");
    }
    if (state.held) {
      IW_ASSIGN(state, target->ForceRelease());
    }
    const std::string warning = state.held && !state.lease_over
                                    ? "freed by force; " + HolderText(lock.lock_id, state) +
                                          " - if it is alive, it stops before its next write if "
                                          "it is an icewright, and goes on if it is a Flink job"
                                    : "";
    if (!warning.empty()) session.log().Warning(warning);
    if (session.json()) {
      Json json = {{"lock_id", lock.lock_id}, {"released", state.held}};
      json["was"] = StateJson(state);
      json["warning"] = TextOrNull(warning);
      PrintJson(session.out(), json);
    } else {
      session.out() << "lock " << lock.lock_id << (state.held ? " is free now\n" : " was free\n");
    }
    return ExitCode::kOk;
  }

  CLI::App* release_ = nullptr;
  std::string table_;
  LockFlags flags_;
  bool force_ = false;
  bool recovery_ = false;
};

}  // namespace

void AddLockCommand(Commands& commands) { commands.push_back(std::make_unique<LockCommand>()); }

}  // namespace icewright::cli
