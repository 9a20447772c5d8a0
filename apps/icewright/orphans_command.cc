#include "icewright/command.h"
#include "icewright/task_options.h"
#include "icewright/task_report.h"
#include "maintain/orphan_quarantine.h"

namespace icewright::cli {
namespace {

/// What comes after `delete-orphan-files --quarantine`.
class OrphansCommand final : public Command {
 public:
  std::string name() const override { return "orphans"; }
  std::string help() const override {
    return "Bring orphans back from quarantine, or delete them for good";
  }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    restore_ = app.add_subcommand("restore", "Move files back to where they were");
    AddTable(*restore_);
    DefineOptions(*restore_, RestoreOrphansFields(), restore_options_, bad_value_);
    restore_->add_option("--path", restore_options_.paths,
                         "original path of a file to bring back; may be repeated; default: all");
    purge_ = app.add_subcommand("purge", "Delete what has been in quarantine for long enough");
    AddTable(*purge_);
    DefineOptions(*purge_, PurgeOrphansFields(), purge_options_, bad_value_);
  }

  Result<ExitCode> Execute(Session& session) override {
    if (bad_value_) return *bad_value_;
    if (restore_->parsed()) {
      return RunTask(session, RestoreOrphans(restore_options_), table_,
                     restore_options_.dry_run ? nullptr : &lock_);
    }
    return RunTask(session, PurgeOrphans(purge_options_), table_,
                   purge_options_.dry_run ? nullptr : &lock_);
  }

 private:
  void AddTable(CLI::App& app) {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    lock_.Define(app, true);
    app.fallthrough();  // global options may also follow the command
  }

  CLI::App* restore_ = nullptr;
  CLI::App* purge_ = nullptr;
  std::string table_;
  LockFlags lock_;
  RestoreOrphansOptions restore_options_;
  PurgeOrphansOptions purge_options_;
  std::optional<Error> bad_value_;
};

}  // namespace

void AddOrphansCommand(Commands& commands) {
  commands.push_back(std::make_unique<OrphansCommand>());
}

}  // namespace icewright::cli
