#pragma once

/// \file data/splice/verify.h
/// Proof by decoding that a splice changed nothing, not even the order of rows.

#include <vector>

#include "data/group_rewrite.h"

namespace icewright::splice {

/// Decodes inputs, without their deleted rows, and outputs, and compares a hash of every column
/// that counts values and places. Errors: kInternal, naming the column; those of reading.
Status VerifyGroup(RunContext& run, const GroupRewriteSetup& setup,
                   const RewriteGroupRequest& request, const std::vector<DataFile>& files);

}  // namespace icewright::splice
