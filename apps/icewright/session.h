#pragma once

/// \file icewright/session.h
/// One invocation of the program: the outside world, the global options, and tables by name.

#include <atomic>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/run_context.h"
#include "catalog/catalog.h"
#include "config/config_file.h"
#include "icewright/output.h"

namespace icewright::cli {

/// The outside world, replaceable in tests.
struct Env {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
  std::stop_token stop = {};
  Clock* clock = &Clock::System();
  GetEnv get_env = [](std::string_view) { return std::nullopt; };
  std::vector<std::string> environment = {};  ///< NAME=value
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

  /// Every configured catalog's name, or only that of --catalog.
  Result<std::vector<std::string>> CatalogNames();

 private:
  Result<const ConfigFile*> Config();
  Env& env_;
  GlobalOptions options_;
  RunContext run_;
  std::shared_ptr<FileIO> io_;
  std::optional<ConfigFile> config_;
  std::map<std::string, std::shared_ptr<Catalog>> catalogs_;
};

}  // namespace icewright::cli
