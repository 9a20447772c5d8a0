#pragma once

/// \file maintain/orphan_reason.h
/// Why a file is an orphan, in a sentence for people. Pure.

#include <string>

#include "base/clock.h"
#include "maintain/orphan_search.h"

namespace icewright {

std::string WhyOrphan(const OrphanFile& orphan, TimePoint now, Milliseconds min_age);

}  // namespace icewright
