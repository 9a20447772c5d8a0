#include "data/spill_file.h"

#include <arrow/io/file.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/util/compression.h>

#include "data/arrow_bridge.h"

namespace icewright {
namespace {

constexpr std::string_view kStep = "spill sorted rows";

// The keys travel as the last column.
std::shared_ptr<arrow::Schema> WithKeys(const arrow::Schema& schema) {
  arrow::FieldVector fields = schema.fields();
  fields.push_back(arrow::field("sort key", arrow::binary(), false));
  return arrow::schema(std::move(fields));
}

}  // namespace

struct SpillWriter::Rep {
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::FileOutputStream> file;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
};

Result<std::unique_ptr<SpillWriter>> SpillWriter::Open(std::string path,
                                                       const std::shared_ptr<arrow::Schema>& schema,
                                                       arrow::MemoryPool* pool) {
  std::unique_ptr<SpillWriter> out(new SpillWriter());
  out->path_ = std::move(path);
  out->rep_ = std::make_unique<Rep>();
  out->rep_->schema = WithKeys(*schema);
  IW_ASSIGN(out->rep_->file, FromArrow(arrow::io::FileOutputStream::Open(out->path_), kStep));
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  if (arrow::util::Codec::IsAvailable(arrow::Compression::LZ4_FRAME)) {
    IW_ASSIGN(options.codec,
              FromArrow(arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME), kStep));
  }
  IW_ASSIGN(
      out->rep_->writer,
      FromArrow(arrow::ipc::MakeStreamWriter(out->rep_->file, out->rep_->schema, options), kStep));
  return out;
}

SpillWriter::~SpillWriter() = default;

Status SpillWriter::Write(const SpillBatch& batch) {
  arrow::ArrayVector columns = batch.rows->columns();
  columns.push_back(batch.keys);
  const auto with_keys =
      arrow::RecordBatch::Make(rep_->schema, batch.rows->num_rows(), std::move(columns));
  return CheckArrow(rep_->writer->WriteRecordBatch(*with_keys), kStep);
}

Status SpillWriter::Close() {
  IW_TRY(CheckArrow(rep_->writer->Close(), kStep));
  return CheckArrow(rep_->file->Close(), kStep);
}

struct SpillReader::Rep {
  std::shared_ptr<arrow::io::ReadableFile> file;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader;
};

Result<std::unique_ptr<SpillReader>> SpillReader::Open(const std::string& path,
                                                       arrow::MemoryPool* pool) {
  std::unique_ptr<SpillReader> out(new SpillReader());
  out->rep_ = std::make_unique<Rep>();
  IW_ASSIGN(out->rep_->file, FromArrow(arrow::io::ReadableFile::Open(path, pool), kStep));
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  IW_ASSIGN(out->rep_->reader,
            FromArrow(arrow::ipc::RecordBatchStreamReader::Open(out->rep_->file, options), kStep));
  return out;
}

SpillReader::~SpillReader() = default;

Result<SpillBatch> SpillReader::Next() {
  std::shared_ptr<arrow::RecordBatch> batch;
  IW_TRY(CheckArrow(rep_->reader->ReadNext(&batch), kStep));
  if (batch == nullptr) return SpillBatch{};
  const int keys = batch->num_columns() - 1;
  SpillBatch out;
  out.keys = std::static_pointer_cast<arrow::BinaryArray>(batch->column(keys));
  IW_ASSIGN(out.rows, FromArrow(batch->RemoveColumn(keys), kStep));
  return out;
}

}  // namespace icewright
