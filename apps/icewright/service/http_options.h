#pragma once

/// \file icewright/service/http_options.h
/// The member `http` of the section `maintenance`.

#include <optional>
#include <string>

#include "base/result.h"
#include "config/config_node.h"

namespace icewright::cli {

struct HttpOptions {
  bool enabled = true;
  std::string listen = "127.0.0.1";
  int port = 9340;         ///< 0: any that is free.
  bool required = false;   ///< The address was written down: a service without it must not start.
  std::string token = {};  ///< Of requests that change something; empty: there are none.

  bool loopback() const;
  friend bool operator==(const HttpOptions&, const HttpOptions&) = default;
};

/// Unset: the defaults. Errors: kInvalidArgument with the place and the nearest known key. No
/// message holds the token.
Result<HttpOptions> ReadHttpOptions(const std::optional<ConfigNode>& node);

}  // namespace icewright::cli
