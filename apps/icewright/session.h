#pragma once

/// \file icewright/session.h
/// One invocation of the program: the outside world, the global options, and tables by name.

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "config/config_file.h"
#include "icewright/output.h"

namespace icewright::cli {

/// SIGHUP asks a command that wants it to read its configuration again; others it ends.
struct Hangups {
  std::atomic<bool> wanted{false};
  std::atomic<int> count{0};
};

/// The outside world, replaceable in tests.
struct Env {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
  std::stop_token stop = {};
  Clock* clock = &Clock::System();
  GetEnv get_env = [](std::string_view) { return std::nullopt; };
  std::vector<std::string> environment = {};  ///< NAME=value
  Hangups* hangups = nullptr;
};

struct GlobalOptions {
  std::string config;   ///< Empty: $ICEWRIGHT_CONFIG, ./icewright.yaml, ~/.icewright.yaml.
  std::string catalog;  ///< Of names that do not start with one.
  OutputFormat output = OutputFormat::kText;
  std::int64_t memory_bytes = MemoryBudget::kUnlimited;
  int threads = 1;
};

/// A table name split by the catalogs there are.
struct ResolvedName {
  std::shared_ptr<Catalog> catalog;
  TableIdentifier id;
};

/// Single-threaded.
class Session {
 public:
  Session(Env& env, GlobalOptions options);
  ~Session();

  Env& env() { return env_; }
  RunContext& run() { return run_; }
  bool json() const { return options_.output == OutputFormat::kJson; }
  std::ostream& out() { return env_.out; }

  /// `name`: catalog.namespace.table, or a path or URI. Errors: kNotFound, naming the catalogs that
  /// the configuration has.
  Result<Table> LoadTable(const std::string& name);

  /// For commands that need the catalog itself. Errors: kInvalidArgument for a path.
  Result<ResolvedName> Resolve(const std::string& name);

  /// Opened once. Errors: kNotFound for a name that is not configured.
  Result<std::shared_ptr<Catalog>> OpenCatalogNamed(const std::string& name);

  /// Properties of the catalog that a table's name starts with; none for a path.
  Result<std::map<std::string, std::string>> PropertiesFor(const std::string& table);

  /// The name that locks have by default: catalog.namespace.table, or a path's location.
  Result<std::string> FullName(const std::string& table);

  /// Asked before each commit and each delete batch of the run; empty: it may.
  void SetMayWrite(std::function<Status()> may_write);

  /// Stops the run; it ends with kLockLost. Thread-safe.
  void LoseLock();

  /// Warnings of modules, a line each on the error stream.
  Log& log() { return *log_; }

  /// Every configured catalog's name, or only that of --catalog.
  Result<std::vector<std::string>> CatalogNames();

  /// Read once. Errors: kNotFound, kInvalidArgument.
  Result<const ConfigFile*> Config();
  /// As --config.
  void UseConfig(std::string file) { options_.config = std::move(file); }
  /// The next use reads the file and opens catalogs anew.
  void ForgetConfig();

 private:
  class ErrorStreamLog;

  Status MayWrite();

  Env& env_;
  GlobalOptions options_;
  std::unique_ptr<Log> log_;
  std::stop_source stop_;
  std::atomic<StopReason> stop_reason_{StopReason::kCancelled};
  std::stop_callback<std::function<void()>> outside_stop_;
  std::mutex may_write_mutex_;
  std::function<Status()> may_write_;  // guarded by may_write_mutex_
  RunContext run_;
  std::shared_ptr<FileIO> io_;
  std::optional<ConfigFile> config_;
  std::map<std::string, std::shared_ptr<Catalog>> catalogs_;
};

}  // namespace icewright::cli
