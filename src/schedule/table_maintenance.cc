#include "icewright/table_maintenance.h"

#include <fmt/format.h>

#include "lock/memory_lock.h"

namespace icewright {

TableMaintenanceBuilder TableMaintenance::ForTable(TableLoader loader) {
  return {std::move(loader), false};
}

TableMaintenanceBuilder TableMaintenance::ForChangeStream(TableLoader loader) {
  return {std::move(loader), true};
}

void TableMaintenance::Run(RunContext& run) { service_->Run(run.stop()); }

Status TableMaintenance::Push(const TableChange& change) {
  if (!change_stream_) {
    return Error(Code::kInvalidArgument,
                 "this maintenance watches the table itself: use ForChangeStream to push changes");
  }
  return service_->Push(key_, change);
}

Status TableMaintenance::RunNow(const std::string& task) { return service_->RunNow(key_, task); }

Status TableMaintenance::SetPaused(const std::string& task, bool paused) {
  return service_->SetPaused(key_, task, paused);
}

TableStatus TableMaintenance::status() const {
  const ServiceStatus status = service_->status();
  return status.tables.empty() ? TableStatus() : status.tables.front();
}

Result<std::vector<RunRecord>> TableMaintenance::Runs(int limit) const {
  return store_->Runs(key_, limit);
}

TableMaintenanceBuilder& TableMaintenanceBuilder::RateLimit(Milliseconds limit) {
  triggers_.rate_limit = limit;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::LockCheckDelay(Milliseconds delay) {
  triggers_.lock_check_delay = delay;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::Parallelism(int threads) {
  parallelism_ = threads;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::MaxReadBack(int snapshots) {
  max_read_back_ = snapshots;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::UidSuffix(std::string suffix) {
  uid_suffix_ = std::move(suffix);
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::Policy(TriggerPolicy policy) {
  triggers_.policy = policy;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::Locks(std::shared_ptr<LockFactory> locks) {
  locks_ = std::move(locks);
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::State(std::string place) {
  state_ = std::move(place);
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::StopGrace(Milliseconds grace) {
  stop_grace_ = grace;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::Time(Clock& clock, SteadySource& source) {
  clock_ = &clock;
  source_ = &source;
  return *this;
}

TableMaintenanceBuilder& TableMaintenanceBuilder::AddTask(
    std::shared_ptr<const MaintenanceTask> task, Conditions any, TaskSettings settings) {
  std::string id = settings.name.empty() ? std::string(task->name()) : std::move(settings.name);
  tasks_.push_back({.trigger = {std::move(id), {std::move(any), std::move(settings.extras)}},
                    .task = std::move(task),
                    .branch = std::move(settings.branch),
                    .parallelism = settings.parallelism});
  return *this;
}

Status TableMaintenanceBuilder::CheckOptions() const {
  if (max_read_back_ && change_stream_) {
    return Error(Code::kInvalidArgument,
                 "max-read-back has no meaning for a change stream: leave it out");
  }
  const auto check = [](std::string_view where, const std::optional<int>& parallelism) -> Status {
    if (!parallelism || *parallelism >= 1) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("{}parallelism is {} but must be at least 1", where, *parallelism));
  };
  IW_TRY(check("", parallelism_));
  for (const ScheduledTask& task : tasks_) {
    IW_TRY(check(task.trigger.id + ": ", task.parallelism));
  }
  return {};
}

Result<std::unique_ptr<TableMaintenance>> TableMaintenanceBuilder::Build(RunContext& run) {
  IW_TRY(CheckOptions());
  for (ScheduledTask& task : tasks_) {
    if (!task.parallelism) task.parallelism = parallelism_.value_or(run.threads());
  }
  IW_ASSIGN(const Table table, loader_.Load(run));
  std::unique_ptr<TableMaintenance> made(new TableMaintenance());
  made->table_ = table.name();
  made->key_ = uid_suffix_.empty() ? table.name() : table.name() + "/" + uid_suffix_;
  made->change_stream_ = change_stream_;
  made->time_ = std::make_shared<SteadyTime>(*clock_, *source_);
  IW_ASSIGN(made->store_, ScheduleStore::Open(state_));
  triggers_.eager = locks_ == nullptr;  // as Flink's coordinator lock starts
  if (!locks_) {
    IW_ASSIGN(locks_, MakeMemoryLocks(std::make_shared<MemoryLockTable>(), table.name(),
                                      {.clock = clock_, .log = &run.log()}));
  }
  TableSchedulerServices services{
      .load = [loader = loader_](RunContext& context) { return loader.Load(context); },
      .locks = locks_,
      .store = made->store_,
      .time = made->time_,
      .clock = clock_,
      .log = &run.log()};
  TableSchedulerOptions options{.table = table.name(),
                                .key = made->key_,
                                .triggers = triggers_,
                                .max_read_back = max_read_back_.value_or(100),
                                .monitors = !change_stream_};
  // Opened once here, so that mistakes are errors of Build; the service opens it for good.
  IW_TRY(TableScheduler::Open(options, tasks_, services));
  const auto open = [options, tasks = tasks_, services](StartGate gate) mutable {
    services.gate = std::move(gate);
    return TableScheduler::Open(options, tasks, services);
  };
  made->service_ = std::make_unique<MaintenanceService>(
      ServiceOptions{.look_threads = 1,
                     .pools = {{"", PoolOptions{.threads = run.threads(),
                                                .memory_bytes = run.memory().limit()}}},
                     .stop_grace = stop_grace_,
                     .clock = clock_,
                     .log = &run.log()},
      made->runner_, made->time_);
  made->service_->SetTables({{.key = made->key_, .open = open}});
  return made;
}

}  // namespace icewright
