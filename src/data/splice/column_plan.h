#pragma once

/// \file data/splice/column_plan.h
/// Decides from footers how the columns of an input move. Pure.

#include "data/splice/input.h"

namespace icewright::splice {

/// Precondition: `input` has its footer.
std::vector<ColumnPlan> PlanColumns(const TableMetadata& metadata, const Layout& layout,
                                    const Input& input);

}  // namespace icewright::splice
