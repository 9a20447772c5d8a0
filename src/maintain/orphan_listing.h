#pragma once

/// \file maintain/orphan_listing.h
/// The files that orphan clean-up looks at: listed, or given by the caller.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "catalog/table.h"
#include "io/file_io.h"
#include "maintain/file_matching.h"

namespace icewright {

using FileVisitor = std::function<Status(const FileStatus&)>;

/// Shows files to the visitor, each at least once.
using FileListing = std::function<Status(const FileVisitor&)>;

/// Which of the listed files may be orphans at all. Pure. Single-threaded.
class ListingFilter {
 public:
  /// Candidates are below `base` and were changed before `cutoff`.
  ListingFilter(const TableState& state, const Location& base, TimePoint cutoff);

  enum class Verdict : std::uint8_t {
    kCandidate,
    kYoung,
    kHidden,
    kElsewhere,  ///< Not below the base.
  };

  /// Errors: kInvalidArgument: the location is none; the file is metadata of another table, whose
  /// files would look like orphans of this one.
  Result<Verdict> Judge(const FileStatus& file);

  /// Hash of the path of the file that was judged last.
  PathHash hash() const { return hash_; }

  /// Is the folder of this name, directly below a folder that is not hidden, hidden?
  bool IsHiddenName(std::string_view name) const { return IsHidden(name, partition_prefixes_); }

 private:
  Status CheckOwner(const Location& file, std::string_view path) const;

  std::string base_;  // normal path
  TimePoint cutoff_;
  std::vector<std::string> partition_prefixes_;
  std::vector<std::string> metadata_folders_;  // normal paths
  std::string path_;
  PathHash hash_;
};

/// Everything below the folder, folder by folder, `parallelism` at a time; hidden ones are not
/// looked into. Errors: those of visit and of io.
Status WalkFolders(RunContext& run, FileIO& io, const Location& folder, int parallelism,
                   const ListingFilter& filter, const FileVisitor& visit);

/// A text file with a line "file_path TAB last_modified [TAB size]" for each file. A first line
/// with these words may put the columns into another order. Times: ms since 1970 or
/// "2024-01-31T12:00:00Z". Errors: kInvalidArgument, naming file and line; those of visit and of
/// io.
Status ReadFileList(RunContext& run, FileIO& io, const Location& list, const FileVisitor& visit);

}  // namespace icewright
