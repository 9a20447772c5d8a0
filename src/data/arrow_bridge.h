#pragma once

/// \file data/arrow_bridge.h
/// The boundary to Arrow: errors, exceptions, memory and files cross here and nowhere else.

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/run_context.h"
#include "io/file_io.h"

namespace icewright {

/// Capacity and cancellation keep their meaning; Invalid and Serialization errors are kCorrupt,
/// NotImplemented kUnsupported, IOError kIo. Our own errors that travelled through Arrow come back
/// as they were.
Error FromArrow(const arrow::Status& status, std::string_view step = {});
arrow::Status ToArrow(const Error& error);

template <typename T>
Result<T> FromArrow(arrow::Result<T> result, std::string_view step = {}) {
  if (result.ok()) return std::move(result).ValueUnsafe();
  return FromArrow(result.status(), step);
}

/// Success stays success: IW_TRY(CheckArrow(builder.Finish(&array))).
Status CheckArrow(const arrow::Status& status, std::string_view step = {});

/// Runs fn; exceptions of Parquet and ORC become kCorrupt (or kUnsupported, kExhausted, kIo).
Status Guard(std::string_view step, const std::function<Status()>& fn);

/// An Arrow pool that takes from the run's budget and refuses beyond it: allocations then fail with
/// kExhausted. One per run or per worker; the run must outlive it, and it all it allocated.
/// Thread-safe.
std::shared_ptr<arrow::MemoryPool> MakePool(RunContext& run);

/// Our files as Arrow's. The input stays open while Arrow uses it; the output is closed by its
/// owner.
std::shared_ptr<arrow::io::RandomAccessFile> ToArrowFile(std::unique_ptr<InputFile> file,
                                                         arrow::MemoryPool* pool);
std::shared_ptr<arrow::io::OutputStream> ToArrowStream(OutputFile& file);

}  // namespace icewright
