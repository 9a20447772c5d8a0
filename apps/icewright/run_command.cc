#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <utility>

#include "base/executor_pool.h"
#include "base/guarded.h"
#include "config/units.h"
#include "icewright/command.h"
#include "icewright/service/http_server.h"
#include "icewright/service/idle_memory.h"
#include "icewright/stream_log.h"
#include "lock/lock_keeper.h"
#include "schedule/child_runner.h"
#include "schedule/child_task.h"
#include "schedule/maintenance_config.h"
#include "schedule/maintenance_service.h"
#include "schedule/service_tables.h"
#include "schedule/task_runner.h"

namespace icewright::cli {
namespace {

constexpr Milliseconds kPollSignals{200};

class RunCommand final : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string help() const override {
    return "Maintain tables by the schedule in icewright.yaml until it is stopped";
  }

  void Define(CLI::App& app) override {
    app.add_option("file", file_, "configuration file; default: as --config");
    app.add_option("--discover-interval", discover_interval_,
                   "how often patterns are matched again; default: 60s");
    app.add_flag("--in-process", in_process_,
                 "run tasks in this process, not in ones of their own");
    app.add_flag("--check", check_, "read the configuration, name the tables, and end");
  }

  Result<ExitCode> Execute(Session& session) override {
    IW_ASSIGN(discover_, ParseDuration(discover_interval_));
    if (!file_.empty()) session.UseConfig(file_);
    StreamLog log(session.env().err, *session.env().clock);
    ServiceParts parts{.time = std::make_shared<SteadyTime>(*session.env().clock),
                       .owner = ThisProcessAsOwner(),
                       .clock = session.env().clock,
                       .log = &log};
    IW_ASSIGN(MaintenanceConfig config, ReadConfig(session, parts));
    IW_ASSIGN(http_, ReadHttpOptions(config.http));
    if (check_) return Check(session, config, parts);
    IW_ASSIGN(parts.store, ScheduleStore::Open(config.state));
    IW_ASSIGN(std::vector<ServiceTable> tables, TablesOf(session, config, parts));
    log.Info(fmt::format("maintains {} table(s); state in {}", tables.size(), config.state));

    InProcessRunner in_process;
    ChildRunner children([] { return SpawnTaskProcess("/proc/self/exe"); });
    TaskRunner& runner = in_process_ ? static_cast<TaskRunner&>(in_process) : children;
    MaintenanceService service({.look_threads = config.connections,
                                .pools = config.pools,
                                .bytes_per_hour = config.bytes_per_hour,
                                .stop_grace = config.stop_grace,
                                .clock = session.env().clock,
                                .log = &log},
                               runner, parts.time);
    service.SetTables(std::move(tables));
    IW_ASSIGN(const auto http, StartHttp(http_, service, parts, log));
    Watch(session, service, std::move(config), parts, log);
    log.Info("stopped");
    return ExitCode::kOk;
  }

 private:
  // Null: there is none.
  static Result<std::unique_ptr<HttpServer>> StartHttp(const HttpOptions& options,
                                                       MaintenanceService& service,
                                                       const ServiceParts& parts, Log& log) {
    if (!options.enabled) return std::unique_ptr<HttpServer>();
    auto server = HttpServer::Start(
        options,
        {.service = &service, .store = parts.store.get(), .clock = parts.clock, .log = &log});
    if (!server) {
      if (options.required) return server;
      log.Warning("no status page: " + server.error().message());
      return std::unique_ptr<HttpServer>();
    }
    log.Info("status page: " + (*server)->address());
    if (!options.loopback()) {
      log.Warning(
          fmt::format("the status page at {} can be read by whoever reaches it, and what it "
                      "is sent is not encrypted: put a proxy with TLS in front of it",
                      options.listen));
    }
    return server;
  }

  static Result<MaintenanceConfig> ReadConfig(Session& session, ServiceParts& parts) {
    IW_ASSIGN(const ConfigFile* file, session.Config());
    if (!file->maintenance) {
      return Error(Code::kInvalidArgument,
                   "the configuration has no section 'maintenance': see docs/scheduling.md");
    }
    IW_ASSIGN(MaintenanceConfig config, MaintenanceConfig::Read(*file->maintenance));
    IW_TRY(ReadHttpOptions(config.http));
    for (const std::string& warning : config.warnings) parts.log->Warning(warning);
    parts.catalogs.clear();
    for (const auto& [name, properties] : file->catalogs) {
      IW_ASSIGN(auto catalog, session.OpenCatalogNamed(name));
      parts.catalogs[name] = {std::move(catalog), properties};
    }
    return config;
  }

  static Result<std::vector<ServiceTable>> TablesOf(Session& session,
                                                    const MaintenanceConfig& config,
                                                    const ServiceParts& parts) {
    IW_ASSIGN(const auto names, FindTables(session.run(), config, parts));
    return MakeServiceTables(config, names, parts);
  }

  static Result<ExitCode> Check(Session& session, const MaintenanceConfig& config,
                                const ServiceParts& parts) {
    IW_ASSIGN(const auto names, FindTables(session.run(), config, parts));
    for (const std::string& name : names) {
      IW_ASSIGN(const auto table, config.ForTable(name));
      if (!table) continue;
      session.out() << name << ':';
      for (const ScheduledTask& task : table->tasks) session.out() << ' ' << task.trigger.id;
      session.out() << '\n';
    }
    return ExitCode::kOk;
  }

  // The service works on a thread of its own; this one reads the configuration again when it is
  // asked to, and looks for new tables.
  void Watch(Session& session, MaintenanceService& service, MaintenanceConfig config,
             ServiceParts parts, Log& log) const {
    const std::stop_token stop = session.env().stop;
    Hangups* hangups = session.env().hangups;
    if (hangups != nullptr) hangups->wanted = true;
    WorkerPool pool(1);
    pool.Submit([&service, stop] { service.Run(stop); });
    GiveIdleMemoryBack();
    TimePoint next = parts.time->Now() + discover_;
    while (!stop.stop_requested()) {
      session.env().clock->SleepFor(kPollSignals, stop);
      const bool reload = hangups != nullptr && hangups->count.exchange(0) > 0;
      if (!reload && parts.time->Now() < next) continue;
      next = parts.time->Now() + discover_;
      Refresh(session, service, config, parts, log, reload);
      GiveIdleMemoryBack();
    }
  }

  void Refresh(Session& session, MaintenanceService& service, MaintenanceConfig& config,
               ServiceParts& parts, Log& log, bool reload) const {
    if (reload) {
      session.ForgetConfig();
      auto fresh = Guarded([&] { return ReadConfig(session, parts); });
      if (!fresh) {
        log.Warning("the old configuration stays: " + fresh.error().message());
        return;
      }
      if (*ReadHttpOptions(fresh->http) != http_) {
        log.Warning("maintenance.http has changed: that counts from the next start");
      }
      config = std::move(*fresh);
    }
    auto tables = Guarded([&] { return TablesOf(session, config, parts); });
    if (!tables) {
      log.Warning("the old tables stay: " + tables.error().message());
      return;
    }
    if (reload) log.Info(fmt::format("reloaded: maintains {} table(s)", tables->size()));
    service.SetTables(std::move(*tables));
  }

  std::string file_;
  std::string discover_interval_ = "60s";
  Milliseconds discover_{0};
  HttpOptions http_;
  bool check_ = false;
  bool in_process_ = false;
};

class ServiceTaskCommand final : public Command {
 public:
  std::string name() const override { return "task"; }
  std::string help() const override { return "Internal: one task of the service"; }
  void Define(CLI::App& app) override { app.group(""); }

  Result<ExitCode> Execute(Session&) override {
    // The service is what this process works for.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    IW_TRY(ServeChildTask(STDIN_FILENO, STDOUT_FILENO));
    return ExitCode::kOk;
  }
};

}  // namespace

void AddRunCommand(Commands& commands) {
  commands.push_back(std::make_unique<RunCommand>());
  commands.push_back(std::make_unique<ServiceTaskCommand>());
}

}  // namespace icewright::cli
