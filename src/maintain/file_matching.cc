#include "maintain/file_matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace icewright {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsScheme(std::string_view text) {
  if (text.empty() || !IsLetter(text.front())) return false;
  return std::ranges::all_of(text, [](char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string CountsAs(std::string_view name, const Equals& equals) {
  std::string lower = ToLower(name);
  const auto found = equals.find(lower);
  return found == equals.end() ? lower : found->second;
}

Equals Lower(const Equals& equals) {
  Equals lower;
  for (const auto& [name, value] : equals) lower[ToLower(name)] = ToLower(value);
  return lower;
}

}  // namespace

Result<FileUri> SplitUri(std::string_view text) {
  FileUri uri{.scheme = {}, .authority = {}, .path = text};
  const std::size_t slash = text.find('/');
  const std::size_t colon = text.find(':');
  if (colon < slash) {
    uri.scheme = text.substr(0, colon);
    uri.path = text.substr(colon + 1);
    if (!IsScheme(uri.scheme)) {
      return Error(Code::kInvalidArgument,
                   fmt::format("'{}' is no location: '{}' is no scheme", text, uri.scheme));
    }
  }
  if (uri.path.starts_with("//") && !uri.scheme.empty()) {
    uri.path.remove_prefix(2);
    const std::size_t end = std::min(uri.path.find('/'), uri.path.size());
    uri.authority = uri.path.substr(0, end);
    uri.path.remove_prefix(end);
  }
  const bool is_bucket = uri.path.empty() && !uri.authority.empty();
  if (!uri.path.starts_with('/') && !is_bucket) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not an absolute location", text));
  }
  return uri;
}

void AppendNormalPath(std::string_view path, std::string& out) {
  const std::size_t start = out.size();
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      out += '/';
      out += part;
    } else if (out.size() > start) {
      out.resize(std::max(out.rfind('/'), start));
    }
  }
}

PathHash HashOfPath(std::string_view path) {
  // Almost every path is normal already.
  if (path.size() > 1 && path.starts_with('/') && !path.ends_with('/') &&
      path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos) {
    return HashPath(path);
  }
  std::string normal;
  AppendNormalPath(path, normal);
  return HashPath(normal);
}

std::string_view RelativeTo(std::string_view base, std::string_view path) {
  if (!path.starts_with(base) || path.size() <= base.size() || path[base.size()] != '/') return {};
  return path.substr(base.size() + 1);
}

bool IsHidden(std::string_view relative, std::span<const std::string> partition_prefixes) {
  while (!relative.empty()) {
    const std::size_t slash = std::min(relative.find('/'), relative.size());
    const std::string_view part = relative.substr(0, slash);
    relative.remove_prefix(std::min(slash + 1, relative.size()));
    if (!part.starts_with('_') && !part.starts_with('.')) continue;
    const auto names_part = [&](const std::string& prefix) { return part.starts_with(prefix); };
    if (std::ranges::none_of(partition_prefixes, names_part)) return true;
  }
  return false;
}

Result<PrefixMismatchMode> ParsePrefixMismatchMode(std::string_view text) {
  constexpr std::array<std::string_view, 3> kNames = {"error", "ignore", "delete"};
  const auto* found = std::ranges::find(kNames, ToLower(text));
  if (found == kNames.end()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("prefix-mismatch-mode '{}' is none of ERROR, IGNORE and DELETE{}",
                             text, DidYouMean(text, kNames)));
  }
  return static_cast<PrefixMismatchMode>(found - kNames.begin());
}

Result<Equals> ParseEquals(std::string_view option, std::string_view text) {
  Equals equals;
  std::vector<std::string> names;
  const auto bad = [&](std::string_view what) {
    return Error(Code::kInvalidArgument,
                 fmt::format("{} '{}': {}; write it like s3a,s3n=s3", option, text, what));
  };
  for (std::string_view rest = text; !Trimmed(rest).empty();) {
    const std::size_t end = std::min(rest.find_first_of(",;"), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string_view name = Trimmed(word.substr(0, sign));
    if (name.empty()) return bad("a name is missing");
    names.emplace_back(name);
    if (sign == word.size()) continue;
    const std::string_view value = Trimmed(word.substr(sign + 1));
    if (value.empty()) return bad(fmt::format("'{}' equals nothing", name));
    for (const std::string& each : std::exchange(names, {})) equals[each] = std::string(value);
  }
  if (!names.empty()) return bad(fmt::format("'{}' equals nothing", names.front()));
  return equals;
}

// ---- Prefixes

PrefixRules::PrefixRules(Equals equal_schemes, Equals equal_authorities)
    : schemes_(Lower(equal_schemes)), authorities_(Lower(equal_authorities)) {
  schemes_.try_emplace("s3n", "s3");
  schemes_.try_emplace("s3a", "s3");
}

PrefixRules::Prefix PrefixRules::PrefixOf(const FileUri& uri) const {
  Prefix prefix{CountsAs(uri.scheme, schemes_), CountsAs(uri.authority, authorities_)};
  if (prefix.scheme == "file" && prefix.authority == "localhost") prefix.authority.clear();
  return prefix;
}

bool PrefixRules::Matches(const Prefix& listed, const Prefix& referenced) {
  const bool is_plain = listed.scheme.empty() && listed.authority.empty();
  const std::string_view scheme = is_plain ? std::string_view("file") : listed.scheme;
  return (referenced.scheme.empty() || referenced.scheme == scheme) &&
         (referenced.authority.empty() || referenced.authority == listed.authority);
}

std::string PrefixText(const PrefixRules::Prefix& prefix) {
  if (prefix.scheme.empty()) return "no scheme";
  return prefix.authority.empty() ? prefix.scheme + ":" : prefix.scheme + "://" + prefix.authority;
}

Match MatchPrefixes(const PrefixRules::Prefix& listed,
                    std::span<const PrefixRules::Prefix* const> referenced) {
  if (referenced.empty()) return Match::kOrphan;
  const auto matches = [&](const PrefixRules::Prefix* each) {
    return PrefixRules::Matches(listed, *each);
  };
  return std::ranges::any_of(referenced, matches) ? Match::kReferenced : Match::kMismatch;
}

}  // namespace icewright
