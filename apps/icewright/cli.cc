#include "icewright/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <thread>

#include "codec/json.h"
#include "config/units.h"
#include "icewright/command.h"

namespace icewright::cli {
namespace {

struct GlobalTexts {
  std::string output = "text";
  std::string memory;
};

void DefineGlobals(CLI::App& app, GlobalOptions& options, GlobalTexts& texts) {
  app.add_option("--config", options.config, "configuration file; default: icewright.yaml");
  app.add_option("--catalog", options.catalog, "catalog of names that do not start with one");
  app.add_option("--output", texts.output, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--memory", texts.memory, "memory limit, like 512MiB; default: none");
  app.add_option("--threads", options.threads, "threads; default: the machine's cores")
      ->check(CLI::PositiveNumber);
}

int PrintError(Env& env, bool json, const std::string& command, const Error& error) {
  const ExitCode exit_code = ExitCodeFor(error.code());
  if (json) {
    PrintJson(env.out, {{"command", command}, {"error", ErrorJson(error)}});
  } else {
    env.err << "icewright " << command << ": " << error.message() << " [" << Name(error.code())
            << "]\nnext: " << NextStep(error.code()) << '\n';
  }
  return static_cast<int>(exit_code);
}

// CLI11 reports by exceptions; they end here.
int PrintUsage(Env& env, const CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) {
    env.out << app.help("", CLI::AppFormatMode::Sub);
    return 0;
  }
  const std::vector<std::string> unknown = app.remaining();
  if (app.get_subcommands().empty() && !unknown.empty()) {
    const bool option = unknown.front().starts_with('-');
    env.err << "icewright: there is no " << (option ? "option" : "command") << " '"
            << unknown.front() << "'";
  } else {
    env.err << "icewright: " << e.what();
  }
  env.err << "\nRun 'icewright --help' for the commands.\n";
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int RunCommandLine(Env& env, const std::vector<std::string>& args) {
  Commands commands;
  AddCatalogCommands(commands);
  AddInspectCommand(commands);
  AddScanCommand(commands);
  AddHealthCommand(commands);
  AddTaskCommands(commands);
  AddOrphansCommand(commands);
  AddLockCommand(commands);
  AddRunCommand(commands);

  CLI::App app("icewright keeps Apache Iceberg tables healthy.", "icewright");
  app.require_subcommand(1);
  app.set_version_flag("--version", ICEWRIGHT_VERSION);
  GlobalOptions options;
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  GlobalTexts texts;
  DefineGlobals(app, options, texts);
  app.fallthrough();  // global options may also follow the command
  std::vector<CLI::App*> apps;
  for (const auto& command : commands) {
    apps.push_back(app.add_subcommand(command->name(), command->help()));
    command->Define(*apps.back());
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto used = app.get_subcommands();
    env.out << (used.empty() ? app.help() : used.front()->help());
    return 0;
  } catch (const CLI::CallForVersion& e) {
    env.out << "icewright " << e.what() << '\n';
    return 0;
  } catch (const CLI::ParseError& e) {
    return PrintUsage(env, app, e);
  }
  options.output = texts.output == "json" ? OutputFormat::kJson : OutputFormat::kText;
  const bool json = options.output == OutputFormat::kJson;
  const auto used = std::ranges::find_if(apps, [](const CLI::App* sub) { return sub->parsed(); });
  Command& command = *commands[static_cast<std::size_t>(used - apps.begin())];
  if (!texts.memory.empty()) {
    const auto bytes = ParseByteSize(texts.memory);
    if (!bytes) return PrintError(env, json, command.name(), bytes.error().Within("--memory"));
    options.memory_bytes = *bytes;
  }
  Session session(env, options);
  const auto exit_code = command.Execute(session);
  env.out.flush();
  if (!exit_code) return PrintError(env, json, command.name(), exit_code.error());
  return static_cast<int>(*exit_code);
}

}  // namespace icewright::cli
