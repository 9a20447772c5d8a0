#pragma once

/// \file config/config_file.h
/// icewright.yaml: catalogs, in the layout that PyIceberg users have.
///
///   catalog:
///     prod:
///       type: jdbc
///       uri: jdbc:postgresql://db/iceberg
///       warehouse: s3://bucket/warehouse
///       jdbc.password: ${file:/run/secrets/iceberg}
///   maintenance:
///     ...

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config_node.h"

namespace icewright {

/// Value of an environment variable; unset if there is none.
using GetEnv = std::function<std::optional<std::string>(std::string_view)>;

struct ConfigFile {
  /// Properties of each catalog, with secrets resolved.
  std::map<std::string, std::map<std::string, std::string>> catalogs;
  /// The section `maintenance`, as it was written.
  std::optional<ConfigNode> maintenance = {};
};

/// Reads YAML text. `name` is for messages. A value may be ${env:NAME}, ${file:PATH} or
/// ${command:TEXT} (run by /bin/sh; its first line counts). Environment variables
/// ICEWRIGHT_CATALOG__NAME__KEY override: NAME in any case, `__` in KEY is a dot and `_` a dash.
/// Errors: kInvalidArgument, naming the line and the nearest known key; kNotFound for a secret that
/// is not there. No message holds the value of a secret.
Result<ConfigFile> ParseConfig(std::string_view yaml, std::string_view name, const GetEnv& get_env,
                               const std::vector<std::string>& environment);

/// The text with a ${...} resolved, or as it is.
Result<std::string> ResolveSecret(std::string_view value, const GetEnv& get_env);

}  // namespace icewright
