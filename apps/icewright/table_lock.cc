#include "icewright/table_lock.h"

#include <fmt/format.h>

#include <ostream>
#include <utility>

#include "config/config_file.h"
#include "config/units.h"

namespace icewright::cli {
namespace {

Status AddProperties(Session& session, const LockFlags& flags,
                     std::map<std::string, std::string>& properties) {
  for (const std::string& text : flags.properties) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return Error(Code::kInvalidArgument, "--lock-property needs KEY=VALUE");
    }
    std::string key = text.substr(0, equals);
    if (!key.starts_with(kLockPrefix)) key = std::string(kLockPrefix) + key;
    IW_ASSIGN(properties[key],
              ResolveSecret(std::string_view(text).substr(equals + 1), session.env().get_env));
  }
  if (!flags.id.empty()) properties[std::string(kLockPrefix) + "lock-id"] = flags.id;
  return {};
}

Result<LockConfig> ConfigOf(Session& session, const LockFlags& flags, const std::string& table) {
  std::map<std::string, std::string> properties;
  if (!table.empty()) {
    IW_ASSIGN(properties, session.PropertiesFor(table));
  }
  IW_TRY(AddProperties(session, flags, properties));
  IW_ASSIGN(LockConfig config, ReadLockConfig(properties));
  if (!flags.uri.empty()) {
    IW_ASSIGN(const std::string uri, ResolveSecret(flags.uri, session.env().get_env));
    IW_TRY(SetLockUri(uri, config).Within("--lock-uri"));
  }
  return config;
}

}  // namespace

void LockFlags::Define(CLI::App& app, bool takes_lock) {
  app.add_option("--lock-uri", uri, "where the maintenance lock is: a JDBC URL, zookeeper://HOST");
  app.add_option("--lock-id", id, "default: the table's full name");
  app.add_option("--lock-property", properties,
                 "KEY=VALUE of flink-maintenance.lock.*, such as jdbc.user=me; VALUE may be "
                 "${file:PATH}")
      ->allow_extra_args(false);
  if (!takes_lock) return;
  app.add_option("--lock-wait", wait, "how long to wait for another holder; default: 0s");
  app.add_option("--lock-lease", lease, "how long a dead holder keeps others out; default: 60s");
}

Result<std::optional<ConfiguredLock>> OpenTableLock(Session& session, const LockFlags& flags,
                                                    const std::string& table) {
  IW_ASSIGN(LockConfig config, ConfigOf(session, flags, table));
  if (config.type.empty()) {
    if (flags.id.empty() && flags.properties.empty()) return std::optional<ConfiguredLock>();
    return Error(Code::kInvalidArgument,
                 "a lock is named, but not where it is: add --lock-uri, or the key "
                 "flink-maintenance.lock.type to the catalog");
  }
  IW_ASSIGN(const Milliseconds lease, ParseDuration(flags.lease).Within("--lock-lease"));
  if (lease < Milliseconds(1000)) {
    return Error(Code::kInvalidArgument, "--lock-lease: a lease below 1s is lost by accident");
  }
  std::string lock_id = config.lock_id;
  if (lock_id.empty() && table.empty()) {
    return Error(Code::kInvalidArgument, "which lock? Name the table, or add --lock-id");
  }
  if (lock_id.empty()) {
    IW_ASSIGN(lock_id, session.FullName(table));
  }
  const LockOptions options{.owner = ThisProcessAsOwner(),
                            .lease = lease,
                            .clock = session.env().clock,
                            .random = &session.run().random(),
                            .log = &session.log()};
  IW_ASSIGN(auto locks, OpenLocks(config, lock_id, options, nullptr).Within("open the lock"));
  for (const std::string& warning : config.warnings) session.log().Warning(warning);
  if (const auto warning = PlainTextWarning(config)) session.log().Warning(*warning);
  return std::optional<ConfiguredLock>({std::move(config), std::move(lock_id), std::move(locks)});
}

Result<std::unique_ptr<HeldTableLock>> HeldTableLock::Take(Session& session, const LockFlags& flags,
                                                           const std::string& table) {
  IW_ASSIGN(auto lock, OpenTableLock(session, flags, table));
  if (!lock) return std::unique_ptr<HeldTableLock>();
  IW_ASSIGN(const Milliseconds wait, ParseDuration(flags.wait).Within("--lock-wait"));
  IW_TRY(AcquireWithin(session.run(), *lock->locks->TableLock(), lock->lock_id, wait));
  return std::unique_ptr<HeldTableLock>(new HeldTableLock(session, std::move(*lock)));
}

HeldTableLock::HeldTableLock(Session& session, ConfiguredLock lock)
    : session_(session),
      lock_(std::move(lock)),
      keeper_(lock_.locks->TableLock(), lock_.locks->lease(), [&session](const Error& error) {
        session.log().Warning(error.message());
        session.LoseLock();
      }) {
  session_.SetMayWrite([this] { return keeper_.MayWrite(); });
}

HeldTableLock::~HeldTableLock() {
  session_.SetMayWrite({});
  const Status released = keeper_.Release();
  if (!released) {
    session_.log().Warning("lock " + lock_.lock_id + " could not be freed (" +
                           released.error().message() +
                           "); it ends with its lease, or by 'icewright lock release'");
  }
}

}  // namespace icewright::cli
