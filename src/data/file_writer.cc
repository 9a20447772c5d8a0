#include "data/file_writer.h"

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <string>

#include "data/arrow_bridge.h"
#include "data/format_writers.h"

namespace icewright {

arrow::Status WriterSink::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status WriterSink::Write(const void* data, int64_t nbytes) {
  if (abandoned_) return arrow::Status::Cancelled("the file is given up");
  const icewright::Status status =
      file_->Append(ByteView(static_cast<const char*>(data), static_cast<std::size_t>(nbytes)));
  if (status) return arrow::Status::OK();
  if (!error_) error_ = status.error();
  return ToArrow(status.error());
}

icewright::Status GuardWrite(const WriterSink& sink, const std::function<icewright::Status()>& fn) {
  const std::string step = "write " + sink.location().text();
  const icewright::Status status = Guard(step, fn);
  if (!status && sink.error()) return sink.error()->Within(step);
  return status;
}

std::int64_t BytesPerRow(const arrow::RecordBatch& batch) {
  if (batch.num_rows() == 0) return 1;
  const auto bytes = arrow::util::ReferencedBufferSize(batch);
  return std::max<std::int64_t>(bytes.ok() ? *bytes / batch.num_rows() : 1, 1);
}

DataFile DescribeFile(const WritePlan& plan, const Location& location, std::int64_t rows,
                      std::int64_t size) {
  DataFile file;
  file.content = FileContent::kData;
  file.file_path = location;
  file.file_format = plan.format;
  file.record_count = rows;
  file.file_size_in_bytes = size;
  file.sort_order_id = plan.sort_order_id;
  file.spec_id = plan.metadata->default_spec_id;
  return file;
}

Result<std::unique_ptr<FileWriter>> CreateFileWriter(RunContext& run,
                                                     std::shared_ptr<const WritePlan> plan,
                                                     FileIO& io, const Location& location,
                                                     std::shared_ptr<arrow::MemoryPool> pool) {
  IW_ASSIGN(auto file, io.Create(location, CreateMode::kNew));
  const FileFormat format = plan->format;
  WriterInput input{std::move(plan), std::make_shared<WriterSink>(std::move(file)),
                    std::move(pool)};
  switch (format) {
    case FileFormat::kParquet:
      return OpenParquetWriter(run, std::move(input));
    case FileFormat::kAvro:
      return OpenAvroWriter(run, std::move(input));
    case FileFormat::kOrc:
      return OpenOrcWriter(run, std::move(input));
    case FileFormat::kPuffin:
      break;
  }
  return Error(Code::kUnsupported, "rows cannot be written as " + std::string(Name(format)));
}

}  // namespace icewright
