#pragma once

/// \file maintain/file_matching.h
/// Is a file that a listing shows one that the table names? Pure: no file, no clock.
///
/// A table and a listing may spell one file in different ways. What must agree is the path; scheme
/// and authority may be declared equal. Nothing is percent-decoded: "a b" and "a%20b" are two
/// files. Java twins: FileURI, OrphanFilesDetector.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "maintain/path_set.h"

namespace icewright {

/// "s3://bucket/a/b" as scheme "s3", authority "bucket", path "/a/b". Borrows the text.
struct FileUri {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
};

/// Errors: kInvalidArgument: the text is not an absolute location.
Result<FileUri> SplitUri(std::string_view text);

/// Appends the path with empty and "." parts left out and ".." resolved. Stores that tell "a//b"
/// from "a/b" see two files here as one: then a file may stay that could go, never the other way
/// round.
void AppendNormalPath(std::string_view path, std::string& out);

/// Of the normal path: what files are compared by.
PathHash HashOfPath(std::string_view path);

/// "/w/t/data/x" below "/w/t": "data/x". Both normal paths. Empty: not below it.
std::string_view RelativeTo(std::string_view base, std::string_view path);

/// True if a part of the relative path starts with '_' or '.', unless it starts with one of
/// `partition_prefixes` ("_day="). Parts, not substrings, and none above the listed folder.
bool IsHidden(std::string_view relative, std::span<const std::string> partition_prefixes);

/// What to do about a path that the table names with other schemes or authorities only.
enum class PrefixMismatchMode : std::uint8_t {
  kError,   ///< The run fails, nothing is deleted.
  kIgnore,  ///< The file stays.
  kDelete,  ///< The file goes.
};

/// "ERROR", "IGNORE", "DELETE" in any case. Errors: kInvalidArgument.
Result<PrefixMismatchMode> ParsePrefixMismatchMode(std::string_view text);

/// "s3a,s3n=s3" as {s3a: s3, s3n: s3}; several of these are separated by commas or semicolons,
/// blanks around names do not count. `option` is for the message. Errors: kInvalidArgument.
using Equals = std::map<std::string, std::string, std::less<>>;
Result<Equals> ParseEquals(std::string_view option, std::string_view text);

/// Schemes and authorities that count as one.
class PrefixRules {
 public:
  /// `equal_schemes` adds to s3n and s3a being s3.
  PrefixRules(Equals equal_schemes, Equals equal_authorities);

  /// Scheme and authority as what they count as, in lower case.
  struct Prefix {
    std::string scheme;
    std::string authority;
    friend bool operator==(const Prefix&, const Prefix&) = default;
    friend auto operator<=>(const Prefix&, const Prefix&) = default;
  };
  Prefix PrefixOf(const FileUri& uri) const;

  /// A part that the table's spelling lacks matches anything; one that the listing's lacks does
  /// not. A plain path in a listing is a local file.
  static bool Matches(const Prefix& listed, const Prefix& referenced);

 private:
  Equals schemes_;
  Equals authorities_;
};

/// "s3://b", "file:", "no scheme": for messages.
std::string PrefixText(const PrefixRules::Prefix& prefix);

enum class Match : std::uint8_t {
  kReferenced,  ///< Stays.
  kOrphan,
  kMismatch,  ///< Named, but with other prefixes.
};

/// `referenced`: prefixes of everything that the table names with the listed file's path. One that
/// matches is enough.
Match MatchPrefixes(const PrefixRules::Prefix& listed,
                    std::span<const PrefixRules::Prefix* const> referenced);

}  // namespace icewright
