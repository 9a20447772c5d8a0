#pragma once

/// \file data/parquet_settings.h
/// The table properties write.parquet.* as settings of Arrow's Parquet writer.
///
/// Java twins: TableProperties, Parquet.WriteBuilder.

#include <arrow/memory_pool.h>
#include <parquet/properties.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/file_writer.h"

namespace icewright {

/// Codec (gzip if the property is absent, as Java) and level, page sizes and version, dictionaries,
/// statistics and bloom filters per column. `plain`: paths of columns that get no dictionary,
/// whatever the table says. Errors: kInvalidArgument, naming the property;
/// kUnsupported for a codec that this build lacks.
Result<std::shared_ptr<parquet::WriterProperties>> MakeParquetProperties(
    const WritePlan& plan, arrow::MemoryPool* pool, const std::vector<std::string>& plain = {});

/// What an open column writer holds beside its values: mostly the state of its compressor, which
/// is not allocated from a pool.
std::int64_t OpenColumnBytes(const Properties& properties);

}  // namespace icewright
