#include "icewright/service/http_options.h"

#include <array>
#include <string_view>

#include "config/fields.h"
#include "database/driver_options.h"
#include "schedule/config_values.h"

namespace icewright::cli {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"enabled", "listen", "port", "token"};
constexpr std::size_t kShortestToken = 16;
constexpr int kLastPort = 65'535;

Status SetMember(const std::string& key, const ConfigNode& node, HttpOptions& options) {
  if (node.kind != ConfigNode::Kind::kText) return ConfigError(node, key + " is one value");
  if (key == "enabled") {
    const Status parsed = ParseField(node.text, FieldUnit::kNone, options.enabled);
    return parsed ? parsed : ConfigError(node, "enabled: " + parsed.error().message());
  }
  if (key == "port") {
    options.required = true;
    const Status parsed = ParseField(node.text, FieldUnit::kNone, options.port);
    if (parsed && options.port >= 0 && options.port <= kLastPort) return {};
    return ConfigError(node, "port must be a number from 0 (any that is free) to 65535");
  }
  if (key == "listen") {
    options.required = true;
    options.listen = node.text;
    return node.text.empty() ? ConfigError(node, "listen needs an address, such as 127.0.0.1")
                             : Status();
  }
  if (key == "token") {
    options.token = node.text;
    if (node.text.size() >= kShortestToken) return {};
    return ConfigError(node,
                       "token must have at least 16 characters: write "
                       "${file:PATH}, ${env:NAME} or ${command:TEXT}");
  }
  return ConfigError(node, UnknownKey(key, kKeys).message());
}

}  // namespace

bool HttpOptions::loopback() const { return IsLoopback(listen); }

Result<HttpOptions> ReadHttpOptions(const std::optional<ConfigNode>& node) {
  HttpOptions options;
  if (!node) return options;
  if (node->kind != ConfigNode::Kind::kMap) {
    return ConfigError(*node, "http must be a map with enabled, listen, port and token");
  }
  for (const auto& [key, value] : node->members) IW_TRY(SetMember(key, value, options));
  return options;
}

}  // namespace icewright::cli
