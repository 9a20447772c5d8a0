#pragma once

/// \file schedule/maintenance_guards.h
/// Tables that another service maintains already.

#include <string_view>

#include "base/result.h"
#include "table/metadata.h"

namespace icewright {

struct GuardAnswers {
  bool service_expiry_disabled = false;  ///< S3 Tables' own expiry is off for this table.
  bool glue_compaction = false;          ///< Glue compacts this table.
};

/// True for S3 Tables, told by catalog-impl, an ARN as the warehouse, or the REST signing name.
bool IsS3Tables(const Properties& catalog);

/// May this task run on a table of this catalog? Errors: kUnsupported, naming who maintains the
/// table and what to change.
Status CheckGuards(const Properties& catalog, const GuardAnswers& answers, std::string_view task);

}  // namespace icewright
