#pragma once

/// \file io/local_file.h
/// Open files on the local file system; only local_file_io.cc makes them.

#include <memory>
#include <optional>
#include <string>

#include "io/file_io.h"

namespace icewright::local {

/// The error of a failed system call on `path`: errno names the code.
Error SystemError(int error_number, const char* step, const std::string& path);

/// ".name.crc" beside "name": what Hadoop's checksummed file system keeps.
std::string ChecksumPathOf(const std::string& path);

/// Renames unless the new name is taken. Returns 0 or the errno: EEXIST if it is, EXDEV for another
/// file system.
int MoveToFreeName(const std::string& from, const std::string& to);

Result<std::unique_ptr<InputFile>> OpenInput(Location location, const std::string& path,
                                             std::optional<std::int64_t> size);

/// Makes missing parent folders. Atomic modes write to "name.PID-N.tmp" beside the file: a crash
/// leaves a visible name, which orphan clean-up finds.
Result<std::unique_ptr<OutputFile>> OpenOutput(Location location, std::string path,
                                               CreateMode mode);

}  // namespace icewright::local
