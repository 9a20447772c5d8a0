#pragma once

/// \file io/memory_file_io.h
/// FileIO in memory, for tests and for catalogs that live in a process.

#include <memory>

#include "base/clock.h"
#include "io/file_io.h"

namespace icewright {

/// Any location is a key; a folder is what keys below it make. Thread-safe.
std::shared_ptr<FileIO> MakeMemoryFileIO(Clock* clock = &Clock::System());

}  // namespace icewright
