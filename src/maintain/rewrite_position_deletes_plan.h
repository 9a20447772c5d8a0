#pragma once

/// \file maintain/rewrite_position_deletes_plan.h
/// Which position delete files a rewrite takes together. Pure: no file, no clock.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/location.h"
#include "maintain/rewrite_position_deletes_options.h"

namespace icewright {

/// What the planner knows of a position delete file.
struct PositionDeleteFacts {
  std::int64_t size_bytes = 0;
  std::optional<Location> references = {};  ///< Unset: it names many data files.
  bool attached = true;                     ///< False: it applies to no live data file.
};

/// One output of one commit: positions in the list of a partition's files.
using PositionDeleteGroup = std::vector<std::size_t>;

/// Groups of one partition. With deletion vectors: one group of all files, for a data file must not
/// get two vectors. Else files outside [min, max], or all on demand, in groups of at most
/// max_group_bytes; a group is taken if it has min_input_files files, two files and the target
/// size, or a file above max, and if fewer files come out of it than went in, as far as one can
/// tell. Files that apply to nothing are always worth a rewrite.
std::vector<PositionDeleteGroup> PlanPositionDeletes(const std::vector<PositionDeleteFacts>& files,
                                                     const PositionDeleteSettings& settings);

}  // namespace icewright
