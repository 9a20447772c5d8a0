#pragma once

/// \file data/literal_file.h
/// Small files of rows that are known as literals: partition statistics.

#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"
#include "manifest/data_file.h"
#include "table/metadata.h"
#include "table/schema.h"

namespace icewright {

/// Writes one file. A row holds the leaves of `schema` in order: the fields of a struct stand in
/// its place, lists and maps are not possible. Precondition: each value is null or of its leaf's
/// type. The file is new and complete, or not there. Errors: kUnsupported, kExhausted, those of io.
Result<DataFile> WriteLiteralFile(RunContext& run, FileIO& io,
                                  std::shared_ptr<const TableMetadata> metadata,
                                  const Schema& schema, FileFormat format, const Location& location,
                                  std::span<const StructValue> rows);

/// Calls `visit` with each row of a file, as above; optional columns that the file lacks are null.
/// Errors: those of BatchReader and of visit.
Status ReadLiteralFile(RunContext& run, std::shared_ptr<FileIO> io,
                       std::shared_ptr<const TableMetadata> metadata, const Schema& schema,
                       const DataFile& file, const std::function<Status(StructValue&&)>& visit);

}  // namespace icewright
