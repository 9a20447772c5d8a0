#pragma once

/// \file data/orc_schema.h
/// Iceberg columns as Arrow's ORC writer takes them, with Iceberg's attributes.
///
/// Spec: "Appendix A: ORC".   Java twin: ORCSchemaUtil.

#include <arrow/type_fwd.h>

#include <memory>

#include "base/result.h"
#include "table/schema.h"

namespace icewright {

/// Field metadata becomes ORC type attributes: iceberg.id, iceberg.required and those that tell
/// time from long, uuid and fixed from binary. Columns of unknown type are left out. Errors:
/// kUnsupported.
Result<std::shared_ptr<arrow::Schema>> ToOrcSchema(const Schema& schema);

/// The batch with the types of ToOrcSchema; values are shared, not copied.
Result<std::shared_ptr<arrow::RecordBatch>> ToOrcBatch(const Schema& schema,
                                                       const std::shared_ptr<arrow::Schema>& orc,
                                                       const arrow::RecordBatch& batch,
                                                       arrow::MemoryPool* pool);

}  // namespace icewright
