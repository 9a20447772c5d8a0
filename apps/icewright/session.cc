#include "icewright/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "catalog/table_name.h"
#include "io/local_file_io.h"

namespace icewright::cli {
namespace {

bool IsPath(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.starts_with("file:");
}

// "./t" and "t/" mean files of the working folder.
Location AbsoluteLocation(const std::string& name) {
  if (name.find(':') != std::string::npos || name.starts_with('/')) return Location(name);
  return Location(std::filesystem::absolute(name).lexically_normal().string());
}

std::vector<std::string> SplitName(std::string_view name) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t dot = name.find('.', start);
    parts.emplace_back(name.substr(start, dot - start));
    if (dot == std::string_view::npos) return parts;
    start = dot + 1;
  }
}

std::string NamesOf(const ConfigFile& config) {
  std::vector<std::string> names;
  for (const auto& [name, properties] : config.catalogs) names.push_back(name);
  return names.empty() ? "the configuration has no catalog"
                       : fmt::format("the configuration has {}", fmt::join(names, ", "));
}

// --memory is a promise about the whole process. Code, metadata and buffers of libraries are
// outside the budget of a run: this much is set aside for them.
std::int64_t BudgetOf(std::int64_t limit) {
  constexpr std::int64_t kProgramBytes = std::int64_t{72} << 20;
  if (limit == MemoryBudget::kUnlimited) return limit;
  return std::max(limit - kProgramBytes, limit / 2);
}

}  // namespace

class Session::ErrorStreamLog final : public Log {
 public:
  explicit ErrorStreamLog(std::ostream& err) : err_(err) {}

  void Write(LogLevel level, std::string_view message) override {
    if (level < LogLevel::kWarning) return;
    const std::scoped_lock lock(mutex_);
    err_ << "icewright: warning: " << message << '\n';
  }

 private:
  std::mutex mutex_;
  std::ostream& err_;
};

Session::Session(Env& env, GlobalOptions options)
    : env_(env),
      options_(std::move(options)),
      log_(std::make_unique<ErrorStreamLog>(env.err)),
      outside_stop_(env.stop, [this] { stop_.request_stop(); }),
      run_({.stop = stop_.get_token(),
            .stop_reason = &stop_reason_,
            .clock = env.clock,
            .memory_limit_bytes = BudgetOf(options_.memory_bytes),
            .threads = options_.threads,
            .may_write = [this] { return MayWrite(); }}),
      io_(MakeLocalFileIO()) {}

Session::~Session() = default;

Status Session::MayWrite() {
  std::function<Status()> ask;
  {
    const std::scoped_lock lock(may_write_mutex_);
    ask = may_write_;
  }
  return ask ? ask() : Status();
}

void Session::SetMayWrite(std::function<Status()> may_write) {
  const std::scoped_lock lock(may_write_mutex_);
  may_write_ = std::move(may_write);
}

void Session::LoseLock() {
  if (stop_.stop_requested()) return;
  stop_reason_ = StopReason::kLockLost;
  stop_.request_stop();
}

Result<const ConfigFile*> Session::Config() {
  if (config_) return &*config_;
  std::vector<std::string> places = {options_.config};
  const bool named = !options_.config.empty();
  if (!named) {
    places = {env_.get_env("ICEWRIGHT_CONFIG").value_or(""), "icewright.yaml"};
    if (const auto home = env_.get_env("HOME")) places.push_back(*home + "/.icewright.yaml");
  }
  std::string text;
  std::string path = "(no configuration file)";
  for (const std::string& place : places) {
    if (place.empty()) continue;
    std::ifstream in(place, std::ios::binary);
    if (!in) {
      if (named)
        return Error(Code::kNotFound, fmt::format("configuration file {} cannot be read", place));
      continue;
    }
    std::ostringstream bytes;
    bytes << in.rdbuf();
    text = bytes.str();
    path = place;
    break;
  }
  IW_ASSIGN(config_, ParseConfig(text, path, env_.get_env, env_.environment));
  return &*config_;
}

void Session::ForgetConfig() {
  config_.reset();
  catalogs_.clear();
}

Result<std::shared_ptr<Catalog>> Session::OpenCatalogNamed(const std::string& name) {
  if (const auto open = catalogs_.find(name); open != catalogs_.end()) return open->second;
  IW_ASSIGN(const ConfigFile* config, Config());
  const auto found = config->catalogs.find(name);
  if (found == config->catalogs.end()) {
    return Error(Code::kNotFound, fmt::format("no catalog named '{}': {}", name, NamesOf(*config)));
  }
  auto catalog = OpenCatalog(run_, name, found->second, io_);
  if (!catalog) return catalog.error().Within(fmt::format("open catalog {}", name));
  catalogs_[name] = *catalog;
  return *catalog;
}

Result<std::vector<std::string>> Session::CatalogNames() {
  if (!options_.catalog.empty()) return std::vector<std::string>{options_.catalog};
  IW_ASSIGN(const ConfigFile* config, Config());
  std::vector<std::string> names;
  for (const auto& [name, properties] : config->catalogs) names.push_back(name);
  return names;
}

Result<ResolvedName> Session::Resolve(const std::string& name) {
  if (IsPath(name)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is a path; this command needs catalog.namespace.table", name));
  }
  IW_ASSIGN(const ConfigFile* config, Config());
  std::vector<std::string> parts = SplitName(name);
  std::string catalog = options_.catalog;
  if (parts.size() > 1 && config->catalogs.contains(parts.front()) &&
      (catalog.empty() || catalog == parts.front())) {
    catalog = parts.front();
    parts.erase(parts.begin());
  }
  if (catalog.empty()) {
    if (config->catalogs.size() != 1) {
      return Error(Code::kNotFound, fmt::format("'{}' does not start with a catalog's name: {}",
                                                name, NamesOf(*config)));
    }
    catalog = config->catalogs.begin()->first;
  }
  if (parts.size() < 2) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' lacks a namespace: write catalog.namespace.table", name));
  }
  ResolvedName resolved;
  resolved.id.name = std::move(parts.back());
  parts.pop_back();
  resolved.id.ns = std::move(parts);
  IW_ASSIGN(resolved.catalog, OpenCatalogNamed(catalog));
  return resolved;
}

Result<std::map<std::string, std::string>> Session::PropertiesFor(const std::string& table) {
  if (IsPath(table)) return std::map<std::string, std::string>();
  IW_ASSIGN(const ResolvedName resolved, Resolve(table));
  IW_ASSIGN(const ConfigFile* config, Config());
  return config->catalogs.at(resolved.catalog->name());
}

Result<std::string> Session::FullName(const std::string& table) {
  if (IsPath(table)) return AbsoluteLocation(table).text();
  IW_ASSIGN(const ResolvedName resolved, Resolve(table));
  return DisplayName(resolved.catalog->name(), resolved.id);
}

Result<Table> Session::LoadTable(const std::string& name) {
  if (IsPath(name)) return OpenTableAt(run_, AbsoluteLocation(name), io_);
  IW_ASSIGN(const ResolvedName resolved, Resolve(name));
  return resolved.catalog->LoadTable(run_, resolved.id);
}

}  // namespace icewright::cli
