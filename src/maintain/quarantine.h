#pragma once

/// \file maintain/quarantine.h
/// Where orphans wait before they are deleted for good, and the record of where they came from.
///
/// QUARANTINE/TABLE-UUID/RUN-N.json names the files of one round of a run: where each was, its size
/// and time of change. It is written before the first of them is moved to
/// QUARANTINE/TABLE-UUID/RUN/NUMBER-NAME, and deleted after the last of them is gone. A file that
/// it names and that is not there was never moved, or has been restored.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/location.h"
#include "base/result.h"
#include "io/file_io.h"
#include "table/metadata.h"

namespace icewright {

struct QuarantinedFile {
  Location original;
  std::string name;  ///< Relative to the table's folder in the quarantine: "RUN/7-f.parquet".
  std::int64_t size = 0;
  TimePoint modified{};
  friend bool operator==(const QuarantinedFile&, const QuarantinedFile&) = default;
};

/// What one record names.
struct QuarantineRecord {
  Location location;  ///< Of the record itself.
  std::string table_uuid;
  std::string table;  ///< Its name, for people.
  TimePoint at{};
  std::vector<QuarantinedFile> files = {};
};

/// The table's folder in a quarantine. A v1 table without a UUID is told by its location.
Location QuarantineFolder(const Location& quarantine, const TableMetadata& metadata);

/// "RUN/7-f.parquet" for the file that is the seventh of a run; an odd name is left out.
std::string QuarantineName(std::string_view run, std::int64_t number, const Location& original);

/// Whole or not at all. A record of that name is replaced.
Status WriteQuarantineRecord(FileIO& io, const QuarantineRecord& record);

/// Errors: kCorrupt, also for a name that leads out of the folder; kUnsupported; those of io.
Result<QuarantineRecord> ReadQuarantineRecord(FileIO& io, const Location& location);

/// Records directly in the folder, sorted. Cost: lists it.
Result<std::vector<Location>> ListQuarantineRecords(FileIO& io, const Location& folder);

}  // namespace icewright
