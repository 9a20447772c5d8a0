#include "config/config_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/text.h"

namespace icewright {
namespace {

Error At(std::string_view name, const YAML::Node& node, const std::string& message) {
  return {Code::kInvalidArgument, fmt::format("{}:{}: {}", name, node.Mark().line + 1, message)};
}

Result<std::string> FirstLineOf(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

Result<std::string> ReadSecretFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error(Code::kNotFound, fmt::format("secret file {} cannot be read", path));
  std::ostringstream text;
  text << in.rdbuf();
  return FirstLineOf(text.str());
}

Result<std::string> RunSecretCommand(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { ::pclose(pipe); }
  };
  std::unique_ptr<std::FILE, Close> pipe(::popen(command.c_str(), "re"));
  if (!pipe)
    return Error(Code::kNotFound, fmt::format("secret command '{}' cannot be run", command));
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    text.append(buffer.data(), n);
  }
  if (const int status = ::pclose(pipe.release()); status != 0) {
    return Error(Code::kNotFound, fmt::format("secret command '{}' failed", command));
  }
  return FirstLineOf(text);
}

Result<std::map<std::string, std::string>> ParseCatalog(const YAML::Node& node,
                                                        std::string_view file,
                                                        const std::string& catalog,
                                                        const GetEnv& get_env) {
  if (!node.IsMap()) {
    return At(file, node, fmt::format("catalog '{}' must be a map of properties", catalog));
  }
  std::map<std::string, std::string> properties;
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    if (!entry.second.IsScalar()) {
      return At(file, entry.second, fmt::format("property '{}' must be a single value", key));
    }
    auto value = ResolveSecret(entry.second.Scalar(), get_env);
    if (!value) return value.error().Within(fmt::format("{}: catalog.{}.{}", file, catalog, key));
    properties[key] = std::move(*value);
  }
  return properties;
}

Result<ConfigNode> ParseNode(const YAML::Node& yaml, std::string_view file, const GetEnv& get_env) {
  ConfigNode node;
  node.place = fmt::format("{}:{}", file, yaml.Mark().line + 1);
  if (yaml.IsMap()) {
    node.kind = ConfigNode::Kind::kMap;
    for (const auto& entry : yaml) {
      IW_ASSIGN(ConfigNode member, ParseNode(entry.second, file, get_env));
      node.members.emplace_back(entry.first.as<std::string>(), std::move(member));
    }
  } else if (yaml.IsSequence()) {
    node.kind = ConfigNode::Kind::kList;
    for (const auto& entry : yaml) {
      IW_ASSIGN(ConfigNode item, ParseNode(entry, file, get_env));
      node.items.push_back(std::move(item));
    }
  } else if (yaml.IsScalar()) {
    auto text = ResolveSecret(yaml.Scalar(), get_env);
    if (!text) return text.error().Within(node.place);
    node.secret = *text != yaml.Scalar();
    node.text = std::move(*text);
  }
  return node;
}

// ICEWRIGHT_CATALOG__PROD__S3__ACCESS_KEY_ID=x sets s3.access-key-id of catalog "prod".
void Override(const std::vector<std::string>& environment, ConfigFile& config) {
  constexpr std::string_view kPrefix = "ICEWRIGHT_CATALOG__";
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (!variable.starts_with(kPrefix) || equals == std::string::npos) continue;
    const std::string rest = variable.substr(kPrefix.size(), equals - kPrefix.size());
    const std::size_t split = rest.find("__");
    if (split == std::string::npos) continue;
    const std::string wanted = ToLower(rest.substr(0, split));
    std::string key = ToLower(rest.substr(split + 2));
    for (std::size_t at; (at = key.find("__")) != std::string::npos;) key.replace(at, 2, ".");
    std::ranges::replace(key, '_', '-');
    const auto same_name = [&](const auto& entry) { return ToLower(entry.first) == wanted; };
    const auto known = std::ranges::find_if(config.catalogs, same_name);
    auto& properties = known != config.catalogs.end() ? known->second : config.catalogs[wanted];
    properties[key] = variable.substr(equals + 1);
  }
}

Result<ConfigFile> ParseNodes(const YAML::Node& root, std::string_view name,
                              const GetEnv& get_env) {
  ConfigFile config;
  if (root.IsNull()) return config;
  if (!root.IsMap()) return At(name, root, "the file must be a map");
  constexpr std::array<std::string_view, 2> kSections = {"catalog", "maintenance"};
  for (const auto& section : root) {
    const auto key = section.first.as<std::string>();
    if (key == "maintenance") {
      IW_ASSIGN(config.maintenance, ParseNode(section.second, name, get_env));
      continue;
    }
    if (key != "catalog") {
      return At(name, section.first,
                fmt::format("unknown section '{}'{}", key, DidYouMean(key, kSections)));
    }
    if (!section.second.IsMap())
      return At(name, section.second, "'catalog' must be a map of names");
    for (const auto& entry : section.second) {
      const auto catalog = entry.first.as<std::string>();
      IW_ASSIGN(config.catalogs[catalog], ParseCatalog(entry.second, name, catalog, get_env));
    }
  }
  return config;
}

}  // namespace

Result<std::string> ResolveSecret(std::string_view value, const GetEnv& get_env) {
  if (!value.starts_with("${") || !value.ends_with('}')) return std::string(value);
  const std::string_view inner = value.substr(2, value.size() - 3);
  const std::size_t colon = inner.find(':');
  const std::string_view kind = inner.substr(0, colon);
  const std::string rest(colon == std::string_view::npos ? "" : inner.substr(colon + 1));
  if (kind == "env") {
    auto found = get_env(rest);
    if (!found) {
      return Error(Code::kNotFound, fmt::format("environment variable {} is not set", rest));
    }
    return std::move(*found);
  }
  if (kind == "file") return ReadSecretFile(rest);
  if (kind == "command") return RunSecretCommand(rest);
  return Error(
      Code::kInvalidArgument,
      fmt::format("{} is none of ${{env:NAME}}, ${{file:PATH}}, ${{command:TEXT}}", value));
}

Result<ConfigFile> ParseConfig(std::string_view yaml, std::string_view name, const GetEnv& get_env,
                               const std::vector<std::string>& environment) {
  try {
    IW_ASSIGN(ConfigFile config, ParseNodes(YAML::Load(std::string(yaml)), name, get_env));
    Override(environment, config);
    return config;
  } catch (const YAML::Exception& e) {
    return Error(Code::kInvalidArgument, fmt::format("{}:{}: {}", name, e.mark.line + 1, e.msg));
  }
}

}  // namespace icewright
