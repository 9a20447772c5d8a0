#pragma once

/// \file data/avro_file_schema.h
/// An Iceberg schema as the Avro schema of a data file, with field ids.
///
/// Spec: "Appendix A: Avro".   Java twin: AvroSchemaUtil.

#include "base/result.h"
#include "codec/json_fwd.h"
#include "table/schema.h"

namespace icewright {

/// A record named "table". Optional fields are unions with null that default to null; maps without
/// string keys are arrays of key-value records; columns of unknown type are left out. Errors:
/// kUnsupported for variant.
Result<Json> ToAvroSchema(const Schema& schema);

}  // namespace icewright
