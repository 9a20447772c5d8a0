#pragma once

/// \file icewright/command.h
/// A sub-command: it parses, calls the library, prints. Nothing is decided here.

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "icewright/exit_code.h"
#include "icewright/session.h"

namespace icewright::cli {

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string help() const = 0;

  /// Adds arguments and options; what they fill lives in this object.
  virtual void Define(CLI::App& app) = 0;

  /// Errors are printed by the caller, in the form the user asked for.
  virtual Result<ExitCode> Execute(Session& session) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

/// One function per file of commands.
void AddCatalogCommands(Commands& commands);  // tables, show, create, drop, register
void AddInspectCommand(Commands& commands);   // inspect
void AddScanCommand(Commands& commands);      // scan
void AddHealthCommand(Commands& commands);    // health
void AddLockCommand(Commands& commands);      // lock show, lock release
void AddTaskCommands(Commands& commands);     // rewrite-data-files and its kind
void AddOrphansCommand(Commands& commands);   // orphans restore, orphans purge
void AddRunCommand(Commands& commands);       // run, task

}  // namespace icewright::cli
