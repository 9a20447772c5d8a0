#pragma once

/// \file icewright/task_options.h
/// A task's option rows as options of the command line.

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "config/fields.h"

namespace icewright::cli {

/// `options` and `bad_value` must live while the command line is parsed. A bad value is kept in
/// `bad_value` for the command, which reports it like every other error.
template <typename Options>
void DefineOptions(CLI::App& app, std::span<const OptionField<Options>> fields, Options& options,
                   std::optional<Error>& bad_value) {
  for (const OptionField<Options>& field : fields) {
    const std::string flag = "--" + std::string(field.key);
    const auto set = [&options, &bad_value, &field](const std::string& text) {
      if (Status status = SetField(field, text, options); !status && !bad_value) {
        bad_value = status.error();
      }
    };
    if (IsFlag(field)) {
      // A switch: alone it means true; --x=false is possible as well.
      app.add_flag_function(
             flag, [set](std::int64_t n) { set(n > 0 ? "true" : "false"); },
             std::string(field.help))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    } else {
      app.add_option_function<std::string>(flag, set, std::string(field.help));
    }
  }
}

}  // namespace icewright::cli
