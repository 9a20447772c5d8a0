#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "data/source_file.h"

namespace icewright {
namespace {

constexpr std::int64_t kTailBytes = 64 << 10;      // the first read, for the footer
constexpr std::int64_t kWholeFileBytes = 1 << 20;  // files up to this size: one read for everything
constexpr std::int64_t kUnbufferedBytes = 16 << 20;
constexpr std::int64_t kMinBufferBytes = 64 << 10;
constexpr std::int64_t kMaxBufferBytes = 1 << 20;

std::optional<FieldId> FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return {};
  const auto text = field.metadata()->Get(std::string(kArrowFieldIdKey));
  if (!text.ok()) return {};
  std::int32_t id = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, ec] = std::from_chars(text->data(), end, id);
  if (ec != std::errc() || stop != end || id < 0) return {};
  return FieldId{id};
}

SourceField ToSource(const parquet::arrow::SchemaField& in) {
  SourceField out{.name = in.field->name(), .id = FieldIdOf(*in.field), .type = in.field->type()};
  out.leaf = in.column_index;
  // A map's one child is the struct of its entries, which has no place in Iceberg's schema.
  const bool is_map = in.field->type()->id() == arrow::Type::MAP && in.children.size() == 1;
  for (const auto& child : is_map ? in.children[0].children : in.children) {
    out.children.push_back(ToSource(child));
  }
  return out;
}

void SelectedLeaves(const std::vector<SourceField>& fields, std::vector<int>& out) {
  for (const SourceField& field : fields) {
    if (!field.selected) continue;
    if (field.leaf >= 0) out.push_back(field.leaf);
    SelectedLeaves(field.children, out);
  }
}

int LeafOf(const std::vector<SourceField>& fields, FieldId id) {
  for (const SourceField& field : fields) {
    if (field.id == id) return field.leaf;
    const int inside = LeafOf(field.children, id);
    if (inside >= 0) return inside;
  }
  return -1;
}

/// Arrow's writers keep an Arrow schema beside Parquet's (dictionary, large and extension types,
/// zones). We read by Parquet's types only, so the entry's key is made unreadable: it is the last
/// place in the footer where a Thrift string of this text can be.
void HideArrowSchema(std::string& footer) {
  constexpr std::string_view kKey(
      "\x18\x0c"
      "ARROW:schema");
  const std::size_t at = footer.rfind(kKey);
  if (at != std::string::npos) footer[at + 2] = 'X';
}

/// What is read of a file before its columns are chosen.
struct Opened {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  std::string footer;
};

Result<Opened> ReadFooter(std::unique_ptr<InputFile> input, std::int64_t size,
                          arrow::MemoryPool* pool) {
  if (size < 12) {
    return Error(Code::kCorrupt, "no Parquet file: " + std::to_string(size) + " bytes");
  }
  Opened out;
  out.file = ToArrowFile(std::move(input), pool);
  const std::int64_t tail_bytes = std::min(size, size <= kWholeFileBytes ? size : kTailBytes);
  IW_ASSIGN(std::shared_ptr<arrow::Buffer> tail,
            FromArrow(out.file->ReadAt(size - tail_bytes, tail_bytes)));
  if (tail->size() != tail_bytes) return Error(Code::kCorrupt, "the file is shorter than its size");
  const auto* const bytes = reinterpret_cast<const char*>(tail->data());
  const ByteView magic(bytes + tail_bytes - 4, 4);
  if (magic == "PARE") return Error(Code::kUnsupported, "the Parquet footer is encrypted");
  if (magic != "PAR1") return Error(Code::kCorrupt, "no Parquet file: it does not end with PAR1");
  const std::int64_t footer_bytes = LoadLittle<std::uint32_t>(bytes + tail_bytes - 8);
  if (footer_bytes > size - 12) {
    return Error(Code::kCorrupt, "a footer of " + std::to_string(footer_bytes) +
                                     " bytes in a file of " + std::to_string(size));
  }
  if (footer_bytes + 8 <= tail_bytes) {
    out.footer.assign(bytes + tail_bytes - 8 - footer_bytes,
                      static_cast<std::size_t>(footer_bytes));
  } else {
    IW_ASSIGN(std::shared_ptr<arrow::Buffer> whole,
              FromArrow(out.file->ReadAt(size - 8 - footer_bytes, footer_bytes)));
    out.footer = whole->ToString();
  }
  if (tail_bytes == size) out.file = std::make_shared<arrow::io::BufferReader>(std::move(tail));
  HideArrowSchema(out.footer);
  return out;
}

class ParquetSource final : public SourceFile {
 public:
  ParquetSource(const SourceOptions& options, std::shared_ptr<arrow::MemoryPool> pool)
      : options_(options), pool_(std::move(pool)), arrow_properties_(/*use_threads=*/false) {
    arrow_properties_.set_pre_buffer(false);
    arrow_properties_.set_coerce_int96_timestamp_unit(
        options.int96_as_nanos ? arrow::TimeUnit::NANO : arrow::TimeUnit::MICRO);
  }

  Status Open(std::unique_ptr<InputFile> input, std::int64_t size) {
    IW_ASSIGN(Opened opened, ReadFooter(std::move(input), size, pool_.get()));
    file_ = std::move(opened.file);
    return Guard("", [&]() -> Status {
      metadata_ = parquet::FileMetaData::Make(
          opened.footer.data(), static_cast<std::int64_t>(opened.footer.size()), Properties());
      if (metadata_->is_encryption_algorithm_set()) {
        return Error(Code::kUnsupported, "the Parquet file is encrypted");
      }
      parquet::arrow::SchemaManifest manifest;
      IW_TRY(CheckArrow(parquet::arrow::SchemaManifest::Make(metadata_->schema(), nullptr,
                                                             arrow_properties_, &manifest)));
      for (const auto& field : manifest.schema_fields) fields_.push_back(ToSource(field));
      return {};
    });
  }

  Status Select() override {
    SelectedLeaves(fields_, leaves_);
    columns_ = static_cast<int>(std::count_if(fields_.begin(), fields_.end(),
                                              [](const SourceField& f) { return f.selected; }));
    if (leaves_.empty()) return {};
    if (options_.only_with != nullptr) key_leaf_ = LeafOf(fields_, options_.only_with->column);
    return Guard("", [&]() -> Status {
      parquet::ReaderProperties properties = Properties();
      if (LargestRowGroup() > kUnbufferedBytes) {
        properties.enable_buffered_stream();
        properties.set_buffer_size(
            std::clamp(kUnbufferedBytes / static_cast<std::int64_t>(leaves_.size()),
                       kMinBufferBytes, kMaxBufferBytes));
      }
      auto reader = parquet::ParquetFileReader::Open(file_, properties, metadata_);
      IW_ASSIGN(reader_, FromArrow(parquet::arrow::FileReader::Make(pool_.get(), std::move(reader),
                                                                    arrow_properties_)));
      return {};
    });
  }

  Result<std::optional<SourceBatch>> Next(RunContext& run) override {
    std::optional<SourceBatch> out;
    IW_TRY(Guard("", [&] { return Read(run, out); }));
    return out;
  }

 private:
  /// Leaves `out` unset at the end.
  Status Read(RunContext& run, std::optional<SourceBatch>& out) {
    while (group_rows_left_ == 0) {
      if (group_ + 1 >= metadata_->num_row_groups()) return {};
      IW_TRY(run.Check());
      IW_TRY(StartGroup(run, group_ + 1));
    }
    IW_TRY(run.Check());
    if (skips_group_) {
      out = Take(std::min(group_rows_left_, options_.batch_rows));
      out->skipped = true;
      return {};
    }
    if (leaves_.empty()) {
      out = Take(std::min(group_rows_left_, options_.batch_rows));
      return {};
    }
    if (whole_group_ != nullptr) return ReadSlice(out);
    IW_ASSIGN(std::shared_ptr<arrow::RecordBatch> batch, FromArrow(batches_->Next()));
    IW_ASSIGN(out, ToBatch(batch));
    return {};
  }

  // A copy, so that rows which wait somewhere do not hold the whole row group.
  Status ReadSlice(std::optional<SourceBatch>& out) {
    const std::int64_t done = whole_group_->num_rows() - group_rows_left_;
    const std::int64_t rows = std::min(group_rows_left_, batch_rows_);
    if (rows == whole_group_->num_rows()) {
      IW_ASSIGN(out, ToBatch(whole_group_));
    } else {
      const auto slice = whole_group_->Slice(done, rows);
      arrow::ArrayVector columns;
      for (const auto& column : slice->columns()) {
        IW_ASSIGN(auto copy, FromArrow(arrow::Concatenate({column}, pool_.get())));
        columns.push_back(std::move(copy));
      }
      IW_ASSIGN(out, ToBatch(arrow::RecordBatch::Make(slice->schema(), rows, std::move(columns))));
    }
    if (group_rows_left_ == 0) whole_group_.reset();
    return {};
  }

  Status ReadByColumn(RunContext& run, int index) {
    arrow::ArrayVector columns;
    arrow::FieldVector fields;
    for (const SourceField& field : fields_) {
      if (!field.selected) continue;
      IW_TRY(run.Check());
      std::vector<int> leaves;
      SelectedLeaves({field}, leaves);
      IW_ASSIGN(const auto table, FromArrow(reader_->ReadRowGroup(index, leaves)));
      if (table->num_columns() != 1 || table->num_rows() != group_rows_left_) {
        return Error(Code::kCorrupt, "row group " + std::to_string(index) +
                                         " does not hold the rows that its footer promises");
      }
      const arrow::ArrayVector& chunks = table->column(0)->chunks();
      if (chunks.size() == 1) {
        columns.push_back(chunks[0]);
      } else {
        IW_ASSIGN(auto whole, FromArrow(arrow::Concatenate(chunks, pool_.get())));
        columns.push_back(std::move(whole));
      }
      fields.push_back(table->schema()->field(0));
    }
    whole_group_ =
        arrow::RecordBatch::Make(arrow::schema(fields), group_rows_left_, std::move(columns));
    return {};
  }

  // Of the chosen columns of a row group, as arrays. Strings of a dictionary are guessed.
  std::int64_t DecodedBytes(const parquet::RowGroupMetaData& group) const {
    constexpr std::int64_t kGuessedString = 32;
    constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;  // footers lie
    std::int64_t bytes = 0;
    for (const int leaf : leaves_) {
      const auto chunk = group.ColumnChunk(leaf);
      const std::int64_t values = std::clamp<std::int64_t>(chunk->num_values(), 0, kMaxCount);
      const std::int64_t encoded =
          std::clamp<std::int64_t>(chunk->total_uncompressed_size(), 0, kMaxCount);
      switch (chunk->type()) {
        case parquet::Type::BOOLEAN:
        case parquet::Type::INT32:
        case parquet::Type::FLOAT:
          bytes += values * 4;
          break;
        case parquet::Type::INT64:
        case parquet::Type::DOUBLE:
          bytes += values * 8;
          break;
        default:
          bytes += std::max(encoded, values * kGuessedString) + values * 4;
      }
    }
    return bytes;
  }

  parquet::ReaderProperties Properties() const {
    parquet::ReaderProperties properties(pool_.get());
    properties.set_page_checksum_verification(true);
    return properties;
  }

  std::int64_t LargestRowGroup() const {
    std::int64_t largest = 0;
    for (int i = 0; i < metadata_->num_row_groups(); ++i) {
      const auto group = metadata_->RowGroup(i);
      std::int64_t bytes = 0;
      for (const int leaf : leaves_) bytes += group->ColumnChunk(leaf)->total_compressed_size();
      largest = std::max(largest, bytes);
    }
    return largest;
  }

  Status StartGroup(RunContext& run, int index) {
    const auto group = metadata_->RowGroup(index);
    group_ = index;
    group_rows_left_ = group->num_rows();
    if (group_rows_left_ < 0) return Error(Code::kCorrupt, "a row group of negative length");
    if (leaves_.empty() || group_rows_left_ == 0) return {};
    skips_group_ = key_leaf_ >= 0 &&
                   !MayHold(*options_.only_with, *reader_->parquet_reader(), index, key_leaf_);
    if (skips_group_) return {};
    std::int64_t bytes = 0;
    for (const int leaf : leaves_) bytes += group->ColumnChunk(leaf)->total_uncompressed_size();
    const std::int64_t row_bytes = std::max<std::int64_t>(1, bytes / group_rows_left_);
    batch_rows_ =
        std::clamp<std::int64_t>(options_.batch_bytes / row_bytes, 1, options_.batch_rows);
    if (options_.by_column_bytes > 0 && DecodedBytes(*group) <= options_.by_column_bytes) {
      return ReadByColumn(run, index);
    }
    reader_->set_batch_size(batch_rows_);
    IW_ASSIGN(batches_, FromArrow(reader_->GetRecordBatchReader({index}, leaves_)));
    return {};
  }

  SourceBatch Take(std::int64_t rows) {
    SourceBatch batch{.first_row = next_row_, .rows = rows, .columns = {}};
    next_row_ += rows;
    group_rows_left_ -= rows;
    return batch;
  }

  Result<std::optional<SourceBatch>> ToBatch(const std::shared_ptr<arrow::RecordBatch>& in) {
    if (in == nullptr || in->num_rows() > group_rows_left_) {
      return Error(Code::kCorrupt, "row group " + std::to_string(group_) +
                                       " does not hold the rows that its footer promises");
    }
    if (in->num_columns() != columns_) {
      return Error(Code::kInternal, "Parquet gave " + std::to_string(in->num_columns()) +
                                        " columns instead of " + std::to_string(columns_));
    }
    SourceBatch batch = Take(in->num_rows());
    batch.columns = in->columns();
    return std::optional(std::move(batch));
  }

  SourceOptions options_;
  std::shared_ptr<arrow::MemoryPool> pool_;  // first: everything below allocates from it
  parquet::ArrowReaderProperties arrow_properties_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> whole_group_;  // instead of batches_
  std::int64_t batch_rows_ = 0;
  std::vector<int> leaves_;
  int key_leaf_ = -1;  // of only_with; -1: the file has no such column
  bool skips_group_ = false;
  int columns_ = 0;
  int group_ = -1;
  std::int64_t group_rows_left_ = 0;
  std::int64_t next_row_ = 0;
};

}  // namespace

Result<std::unique_ptr<SourceFile>> OpenParquetSource(std::unique_ptr<InputFile> file,
                                                      std::int64_t size,
                                                      const SourceOptions& options,
                                                      std::shared_ptr<arrow::MemoryPool> pool) {
  auto source = std::make_unique<ParquetSource>(options, std::move(pool));
  IW_TRY(source->Open(std::move(file), size));
  return source;
}

}  // namespace icewright
