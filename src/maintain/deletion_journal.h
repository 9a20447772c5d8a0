#pragma once

/// \file maintain/deletion_journal.h
/// What an expiry is about to delete, on storage before its commit: whoever comes after a crash can
/// finish the work.
///
/// A journal stands beside the table's metadata as icewright-deletions-UUID.json: one JSON value
/// per line, first a header, then ["snapshot", id] for each expired snapshot, then [kind, size,
/// path] for each file, last {"files": n}. A path that is no UTF-8 is [kind, size, null, hex]. It
/// is written whole or not at all. Readers of the table do not look at it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/location.h"
#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "io/line_reader.h"
#include "maintain/reachable_files.h"

namespace icewright {

/// The commit that makes the deletions right: it has landed if the table with this UUID lacks all
/// of these snapshots.
struct JournalHeader {
  std::string table_uuid = {};
  Location base_metadata = {};  ///< The metadata file that the expiry started from.
  std::vector<SnapshotId> expired = {};
};

/// Single-threaded. Destroyed before Close(): there is no journal.
class JournalWriter {
 public:
  static Result<JournalWriter> Create(FileIO& io, const Location& location,
                                      const JournalHeader& header);

  Status Add(const DoomedFile& file);
  /// Makes the journal visible.
  Status Close();
  std::int64_t files() const { return files_; }

 private:
  explicit JournalWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}
  Status AddLine(std::string_view line);

  std::unique_ptr<OutputFile> file_;
  Bytes buffer_;
  std::int64_t files_ = 0;
};

/// Single-threaded. Errors of all calls: kCorrupt, naming the journal; those of io.
class JournalReader {
 public:
  /// Reads the header.
  static Result<JournalReader> Open(FileIO& io, const Location& location);

  const JournalHeader& header() const { return header_; }

  /// The next file; false at the end, which must be there and agree with the number of files.
  Result<bool> Next(DoomedFile& file);

 private:
  JournalReader(Location location, std::unique_ptr<InputFile> file);
  Error Corrupt(std::string_view what) const { return lines_.Corrupt(what); }
  Result<bool> NextLine(std::string& line);
  Status ReadHeader();
  Status CheckEnd(std::string_view line);

  Location location_;
  LineReader lines_;
  JournalHeader header_;
  std::int64_t files_ = 0;
  std::string first_line_;  // read with the header, belongs to the files
};

/// "FOLDER/icewright-deletions-UUID.json".
Location JournalLocation(const Location& metadata_folder, std::string_view uuid);

/// Journals directly in the folder, sorted. Cost: lists the folder.
Result<std::vector<Location>> ListJournals(FileIO& io, const Location& metadata_folder);

}  // namespace icewright
