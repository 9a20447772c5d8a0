#pragma once

/// \file icewright/cli.h
/// The command line as a function, so that tests run it in-process.

#include <string>
#include <vector>

#include "icewright/session.h"

namespace icewright::cli {

/// `args` without the program's name. Returns the exit code.
int RunCommandLine(Env& env, const std::vector<std::string>& args);

}  // namespace icewright::cli
