#pragma once

/// \file maintain/orphan_search.h
/// Compares what is listed with what is referenced, on disk where memory is short.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "maintain/file_matching.h"
#include "maintain/record_spool.h"

namespace icewright {

/// A file that nothing in the table names as it is listed.
struct OrphanFile {
  FileStatus file;
  PathHash hash;
  /// Set if the table names the path with another prefix, and the user said to delete such files.
  std::string named_with = {};
};

struct OrphanCounts {
  std::int64_t compared = 0;    ///< Different files that were listed.
  std::int64_t referenced = 0;  ///< Of these: the table names them.
  std::int64_t mismatched = 0;  ///< Of these: with other prefixes only; IGNORE leaves them alone.
  std::int64_t orphans = 0;
  std::int64_t bytes = 0;  ///< Of the orphans.
};

/// First everything is added, then compared once. Not thread-safe. Borrows run and rules.
class OrphanSearch {
 public:
  /// Holds what the memory budget gives, at most 96 MiB. Errors: kExhausted.
  static Result<OrphanSearch> Start(RunContext& run, const PrefixRules& rules,
                                    PrefixMismatchMode mode);

  Status AddListed(const FileStatus& file, PathHash hash);

  /// Errors: kCorrupt for a path that is not absolute: nobody can tell which file it means.
  Status AddReferenced(std::span<const std::string> paths);

  /// Shows each orphan once, in order of hashes. Errors: kInvalidArgument for prefixes that do not
  /// match in mode kError, after all of them were seen; those of visit.
  Status Compare(const std::function<Status(const OrphanFile&)>& visit);

  const OrphanCounts& counts() const { return counts_; }
  LazySpillFolder& folder() { return *folder_; }

 private:
  using Prefix = PrefixRules::Prefix;
  using PrefixNumber = std::uint32_t;

  OrphanSearch(RunContext& run, const PrefixRules& rules, PrefixMismatchMode mode,
               Reservation memory);
  PrefixNumber NumberOf(Prefix prefix);
  Status CompareGroup(std::vector<FileStatus>& listed, PathHash hash,
                      const std::vector<const Prefix*>& referenced,
                      const std::function<Status(const OrphanFile&)>& visit);
  Error MismatchError() const;

  RunContext& run_;
  const PrefixRules& rules_;
  PrefixMismatchMode mode_;
  Reservation memory_;
  std::unique_ptr<LazySpillFolder> folder_;
  std::unique_ptr<HashSorter> listed_;
  std::unique_ptr<HashSorter> referenced_;
  std::map<Prefix, PrefixNumber> numbers_;
  std::vector<const Prefix*> prefixes_;
  std::string last_prefix_;  // as spelled, to skip the look-up
  PrefixNumber last_number_ = 0;
  std::map<std::string, std::string> mismatches_;  // "listed with x, named with y": an example
  OrphanCounts counts_;
};

/// A listed file as a record's payload, and back.
std::string PackFile(const FileStatus& file);
FileStatus UnpackFile(std::string_view payload);

}  // namespace icewright
