#pragma once

/// \file data/format_writers.h
/// The writers behind CreateFileWriter, one per format, and what they share.

#include <arrow/io/interfaces.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "data/file_writer.h"

namespace icewright {

/// An Arrow stream onto our file. Parquet and ORC flush what they hold when they are destroyed;
/// after Abandon() that goes nowhere. Single-threaded.
class WriterSink final : public arrow::io::OutputStream {
 public:
  explicit WriterSink(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  const Location& location() const { return file_->location(); }
  std::int64_t bytes_written() const { return file_->bytes_written(); }
  void Abandon() { abandoned_ = true; }

  /// The file itself, for writers without Arrow.
  ByteSink& bytes() { return *file_; }

  /// The first error of the file. Libraries on the way to our writers may lose its code.
  const std::optional<Error>& error() const { return error_; }

  /// Makes the file visible.
  icewright::Status Finish() { return file_->Close(); }

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return file_->bytes_written(); }
  using OutputStream::Write;
  arrow::Status Write(const void* data, int64_t nbytes) override;

 private:
  std::unique_ptr<OutputFile> file_;
  std::optional<Error> error_;
  bool abandoned_ = false;
  bool closed_ = false;
};

/// Runs fn of a writer library; what it throws becomes an error that names the file.
icewright::Status GuardWrite(const WriterSink& sink, const std::function<icewright::Status()>& fn);

/// What a writer is opened with.
struct WriterInput {
  std::shared_ptr<const WritePlan> plan;
  std::shared_ptr<WriterSink> sink;
  std::shared_ptr<arrow::MemoryPool> pool;
};

Result<std::unique_ptr<FileWriter>> OpenParquetWriter(RunContext& run, WriterInput input);
Result<std::unique_ptr<FileWriter>> OpenAvroWriter(RunContext& run, WriterInput input);
Result<std::unique_ptr<FileWriter>> OpenOrcWriter(RunContext& run, WriterInput input);

/// Bytes of a batch's rows in memory, as if its arrays were not sliced.
std::int64_t BytesPerRow(const arrow::RecordBatch& batch);

/// The fields of a DataFile that all formats fill in the same way.
DataFile DescribeFile(const WritePlan& plan, const Location& location, std::int64_t rows,
                      std::int64_t size);

}  // namespace icewright
