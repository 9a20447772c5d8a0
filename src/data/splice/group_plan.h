#pragma once

/// \file data/splice/group_plan.h
/// Which way a group goes: what can be moved of it, and what that costs.

#include <optional>
#include <string>
#include <vector>

#include "data/group_rewrite.h"
#include "data/splice/input.h"

namespace icewright::splice {

/// Groups that only rows can be moved of. Unset, or the reason.
std::optional<std::string> WhyDecodeGroup(const RewriteGroupRequest& request);

/// Inputs of a group with their plans: footers read, deletes as positions. Errors: those of
/// OpenInput and DeletedRows.
Result<std::vector<Input>> PlanInputs(RunContext& run, const GroupRewriteSetup& setup,
                                      const Layout& layout, const RewriteGroupRequest& request);

/// CPU seconds on one core, by rates measured on one machine: good for comparing, not for clocks.
double SpliceSeconds(const TreatmentBytes& bytes);
double DecodeSeconds(std::int64_t bytes);

RewriteEstimate Describe(const Layout& layout, const std::vector<Input>& inputs);

}  // namespace icewright::splice
