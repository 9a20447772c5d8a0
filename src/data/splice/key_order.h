#pragma once

/// \file data/splice/key_order.h
/// Files that only have to be put one behind the other to be sorted.

#include <optional>
#include <vector>

#include "data/group_rewrite.h"

namespace icewright::splice {

/// The tasks of a request in an order in which their rows, one file after another, are sorted as
/// it wants; unset if there is none. Bounds of the first key put them in order; with `prove` the
/// keys of all rows are read and compared. Precondition: the request has a sort order with fields.
/// Errors: those of OpenTask.
Result<std::optional<std::vector<FileTask>>> InKeyOrder(RunContext& run,
                                                        const GroupRewriteSetup& setup,
                                                        const RewriteGroupRequest& request,
                                                        bool prove);

}  // namespace icewright::splice
