#pragma once

/// \file io/local_file_io.h
/// FileIO on the machine's own files.

#include <memory>

#include "io/file_io.h"

namespace icewright {

/// Serves "file:/a", "file:///a", "file://localhost/a" and plain absolute paths. Paths are taken as
/// they are: no percent-decoding. A Hadoop checksum file ".name.crc" beside a file that is replaced
/// or deleted goes with it. Thread-safe.
std::shared_ptr<FileIO> MakeLocalFileIO();

/// The path behind a local location. Errors: kUnsupported for another scheme, kInvalidArgument for
/// a relative path.
Result<std::string> LocalPathOf(const Location& location);

}  // namespace icewright
