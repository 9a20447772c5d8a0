#include <arrow/array.h>

#include <algorithm>

#include "codec/avro/container.h"
#include "data/arrow_bridge.h"
#include "data/avro_column.h"
#include "data/source_file.h"

namespace icewright {
namespace {

/// The file as a stream that owns it.
class OwnedFile final : public ByteSource {
 public:
  explicit OwnedFile(std::unique_ptr<InputFile> file) : file_(std::move(file)), source_(*file_) {}
  Result<std::size_t> Read(std::span<char> out) override { return source_.Read(out); }

 private:
  std::unique_ptr<InputFile> file_;
  InputFileSource source_;
};

class AvroSource final : public SourceFile {
 public:
  AvroSource(avro::ContainerReader container, const SourceOptions& options,
             std::shared_ptr<arrow::MemoryPool> pool)
      : options_(options), pool_(std::move(pool)), container_(std::move(container)) {}

  Status Describe() {
    const avro::Schema& record = *container_.schema();
    if (record.kind != avro::Kind::kRecord) {
      return Error(Code::kCorrupt, "the Avro schema is no record");
    }
    for (const avro::RecordField& field : record.fields) {
      IW_ASSIGN(SourceField described,
                AvroColumn::Describe(field.name, field.field_id, *field.schema));
      described.leaf = static_cast<int>(fields_.size());
      fields_.push_back(std::move(described));
    }
    return {};
  }

  Status Select() override {
    const avro::Schema& record = *container_.schema();
    columns_.resize(fields_.size());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i].selected) continue;
      SelectAll(fields_[i]);
      IW_ASSIGN(columns_[i], AvroColumn::Make(fields_[i], *record.fields[i].schema, pool_.get()));
      any_selected_ = true;
    }
    return {};
  }

  Result<std::optional<SourceBatch>> Next(RunContext& run) override {
    std::optional<SourceBatch> out;
    IW_TRY(Guard("", [&] { return Read(run, out); }));
    return out;
  }

 private:
  Status Read(RunContext& run, std::optional<SourceBatch>& out) {
    IW_TRY(run.Check());
    SourceBatch batch{.first_row = next_row_, .rows = 0, .columns = {}};
    std::int64_t bytes = 0;
    while (batch.rows < options_.batch_rows && bytes < options_.batch_bytes) {
      if (block_left_ == 0) {
        IW_TRY(run.Check());
        IW_ASSIGN(const bool more, NextBlock());
        if (!more) break;
        continue;
      }
      const std::int64_t wanted = std::min(block_left_, options_.batch_rows - batch.rows);
      IW_ASSIGN(const std::int64_t used, ReadRows(wanted));
      bytes += used;
      batch.rows += wanted;
      block_left_ -= wanted;
    }
    if (batch.rows == 0) return {};
    for (std::optional<AvroColumn>& column : columns_) {
      if (!column) continue;
      IW_ASSIGN(auto array, column->Finish());
      batch.columns.push_back(std::move(array));
    }
    next_row_ += batch.rows;
    out = std::move(batch);
    return {};
  }

  Result<bool> NextBlock() {
    if (any_selected_ && !decoder_.at_end()) {
      return Error(Code::kCorrupt, "an Avro block is longer than its records");
    }
    avro::ContainerReader::Block block;
    IW_ASSIGN(const bool more, container_.Next(block));
    if (!more) return false;
    block_left_ = block.count;
    decoder_ = avro::Decoder(any_selected_ ? block.data : ByteView());
    return true;
  }

  /// Returns the bytes of the rows.
  Result<std::int64_t> ReadRows(std::int64_t rows) {
    if (!any_selected_) return 0;
    const avro::Schema& record = *container_.schema();
    const std::size_t before = decoder_.remaining();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i]) {
          IW_TRY(columns_[i]->Read(decoder_));
        } else {
          decoder_.Skip(*record.fields[i].schema);
        }
      }
      if (!decoder_.ok()) {
        return Error(Code::kCorrupt, "malformed Avro record " + std::to_string(next_row_ + row));
      }
    }
    return static_cast<std::int64_t>(before - decoder_.remaining());
  }

  SourceOptions options_;
  std::shared_ptr<arrow::MemoryPool> pool_;  // first: outlives what is allocated from it
  avro::ContainerReader container_;
  avro::Decoder decoder_{ByteView()};
  std::vector<std::optional<AvroColumn>> columns_;  // unset: skipped
  bool any_selected_ = false;
  std::int64_t block_left_ = 0;
  std::int64_t next_row_ = 0;
};

}  // namespace

Result<std::unique_ptr<SourceFile>> OpenAvroSource(std::unique_ptr<InputFile> file,
                                                   const SourceOptions& options,
                                                   std::shared_ptr<arrow::MemoryPool> pool) {
  IW_ASSIGN(
      avro::ContainerReader container,
      avro::ContainerReader::Open(std::make_unique<OwnedFile>(std::move(file)), "Avro container"));
  auto source = std::make_unique<AvroSource>(std::move(container), options, std::move(pool));
  IW_TRY(source->Describe());
  return source;
}

}  // namespace icewright
