#pragma once

/// \file apps/icewright/service/idle_memory.h
/// What a service that waits gives back.

namespace icewright::cli {

/// Gives free heap back to the system, and the resident pages of program and library code: most of
/// them ran once, when the process started. What runs again comes back from the page cache. Cost: a
/// look at /proc/self/maps, and a page fault for each stretch of code that is in use.
void GiveIdleMemoryBack();

}  // namespace icewright::cli
