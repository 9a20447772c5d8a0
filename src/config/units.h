#pragma once

/// \file config/units.h
/// Sizes and durations as people write them.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace icewright {

/// "1048576", "512MiB", "1.5 GB", "64k": binary units with and without the i (as Flink and Spark
/// read them), case-insensitive. Errors: kInvalidArgument.
Result<std::int64_t> ParseByteSize(std::string_view text);

/// "500ms", "30s", "5 min", "2h", "7d", "PT72H", "1h30m". A bare number is refused: it has no unit.
/// Errors: kInvalidArgument.
Result<Milliseconds> ParseDuration(std::string_view text);

/// "512.0 MiB": four figures at most, for people.
std::string FormatByteSize(std::int64_t bytes);
std::string FormatDuration(Milliseconds duration);

/// "1234567" -> "1,234,567".
std::string FormatCount(std::int64_t count);

}  // namespace icewright
