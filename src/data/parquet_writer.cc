#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <algorithm>

#include "codec/json.h"
#include "data/arrow_bridge.h"
#include "data/column_metrics.h"
#include "data/format_writers.h"
#include "data/parquet_levels.h"
#include "data/parquet_schema.h"
#include "data/parquet_settings.h"

namespace icewright {
namespace {

constexpr std::int64_t kMinRowsPerStep = 100;

// Writes through Arrow's column writers rather than its table writer: those take dictionaries as
// they come, and the schema keeps what Arrow's types cannot say (uuid, names that Java sanitises).
class ParquetWriter final : public FileWriter {
 public:
  ParquetWriter(WriterInput input, std::vector<ParquetLeaf> leaves,
                std::unique_ptr<parquet::ParquetFileWriter> file)
      : plan_(std::move(input.plan)),
        sink_(std::move(input.sink)),
        pool_(std::move(input.pool)),
        leaves_(std::move(leaves)),
        nulls_(leaves_.size(), 0),
        arrow_properties_(parquet::ArrowWriterProperties::Builder().build()),
        context_(pool_.get(), arrow_properties_.get()),
        metrics_(plan_->schema, plan_->metrics),
        file_(std::move(file)) {}

  ~ParquetWriter() override {
    if (!closed_) sink_->Abandon();
  }

  Status Write(RunContext& run, const arrow::RecordBatch& batch) override {
    if (batch.num_rows() == 0) return {};
    IW_TRY(metrics_.Update(batch));
    const std::int64_t raw_row_bytes = BytesPerRow(batch);
    for (std::int64_t done = 0; done < batch.num_rows();) {
      IW_TRY(run.Check());
      const std::int64_t rows = std::min(RowsOfStep(raw_row_bytes), batch.num_rows() - done);
      const std::shared_ptr<arrow::RecordBatch> slice =
          rows == batch.num_rows() ? nullptr : batch.Slice(done, rows);
      IW_TRY(Guarded([&] { return WriteStep(slice ? *slice : batch); }));
      done += rows;
      if (group_bytes_ >= plan_->row_group_bytes) IW_TRY(EndRowGroup(run));
    }
    return {};
  }

  std::int64_t estimated_bytes() const override { return sink_->bytes_written() + group_bytes_; }
  std::int64_t uncompressed_bytes() const override { return open_page_bytes_; }
  std::int64_t buffered_bytes() const override { return group_bytes_; }

  Status EndRowGroup(RunContext&) override {
    if (group_ == nullptr) return {};
    return Guarded([&]() -> Status {
      group_->Close();
      group_ = nullptr;
      group_bytes_ = 0;
      open_page_bytes_ = 0;
      group_rows_ = 0;
      return {};
    });
  }

  Result<DataFile> Close(RunContext& run) override {
    IW_TRY(EndRowGroup(run));
    IW_TRY(Guarded([&]() -> Status {
      file_->Close();
      return {};
    }));
    const std::shared_ptr<parquet::FileMetaData> footer = file_->metadata();
    IW_TRY(CheckFooter(*footer));
    const std::int64_t size = sink_->bytes_written();
    IW_TRY(sink_->Finish());
    closed_ = true;
    DataFile file = DescribeFile(*plan_, sink_->location(), rows_, size);
    metrics_.Finish(file);
    DescribeChunks(*footer, file);
    return file;
  }

 private:
  Status Guarded(const std::function<Status()>& fn) { return GuardWrite(*sink_, fn); }

  // Rows to write before the size of the row group is looked at again.
  std::int64_t RowsOfStep(std::int64_t raw_row_bytes) const {
    const std::int64_t row_bytes = group_rows_ < kMinRowsPerStep
                                       ? raw_row_bytes
                                       : std::max<std::int64_t>(group_bytes_ / group_rows_, 1);
    return std::max((plan_->row_group_bytes - group_bytes_) / row_bytes, kMinRowsPerStep);
  }

  Status WriteStep(const arrow::RecordBatch& batch) {
    if (group_ == nullptr) group_ = file_->AppendBufferedRowGroup();
    for (std::size_t i = 0; i < leaves_.size();) {
      const ParquetLeaf& leaf = leaves_[i];
      const std::shared_ptr<arrow::Array> column = batch.column(leaf.top_level);
      if (leaf.nested) {
        IW_TRY(VisitLeaves(plan_->schema.fields()[static_cast<std::size_t>(leaf.top_level)], column,
                           pool_.get(),
                           [&](const LeafLevels& levels) { return WriteNested(i++, levels); }));
      } else {
        IW_TRY(WriteFlat(i++, *column));
      }
    }
    rows_ += batch.num_rows();
    group_rows_ += batch.num_rows();
    const parquet::RowGroupWriter::BufferedStats buffered = group_->estimated_buffered_stats();
    open_page_bytes_ = buffered.def_level_bytes + buffered.rep_level_bytes + buffered.value_bytes +
                       buffered.dict_bytes;
    group_bytes_ = group_->total_compressed_bytes() + group_->total_compressed_bytes_written() +
                   open_page_bytes_;
    return {};
  }

  Status WriteFlat(std::size_t i, const arrow::Array& array) {
    const bool nullable = !leaves_[i].field.required;
    const std::int16_t* levels = nullptr;
    if (nullable) {
      levels = DefinitionLevels(array);
      nulls_[i] += array.null_count();
    } else if (array.null_count() > 0) {
      return Error(Code::kCorrupt, fmt::format("required column {} has {} nulls",
                                               leaves_[i].field.name, array.null_count()));
    }
    return CheckArrow(group_->column(static_cast<int>(i))
                          ->WriteArrow(levels, nullptr, array.length(), array, &context_, nullable),
                      leaves_[i].path);
  }

  // 1 for each valid row, 0 for each null.
  const std::int16_t* DefinitionLevels(const arrow::Array& array) {
    const auto rows = static_cast<std::size_t>(array.length());
    if (array.null_count() == 0) {
      if (ones_.size() < rows) ones_.assign(rows, 1);
      return ones_.data();
    }
    levels_.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      levels_[row] = array.IsValid(static_cast<std::int64_t>(row)) ? 1 : 0;
    }
    return levels_.data();
  }

  Status WriteNested(std::size_t i, const LeafLevels& levels) {
    return CheckArrow(
        group_->column(static_cast<int>(i))
            ->WriteArrow(levels.definition.data(),
                         levels.repetition.empty() ? nullptr : levels.repetition.data(),
                         static_cast<std::int64_t>(levels.definition.size()), *levels.values,
                         &context_, levels.nullable),
        leaves_[i].path);
  }

  // The footer's own counts must be those of the rows that came in.
  Status CheckFooter(const parquet::FileMetaData& footer) const {
    std::int64_t rows = 0;
    std::vector<std::int64_t> nulls = nulls_;
    for (int g = 0; g < footer.num_row_groups(); ++g) {
      const auto group = footer.RowGroup(g);
      rows += group->num_rows();
      for (std::size_t i = 0; i < leaves_.size(); ++i) {
        const auto statistics = group->ColumnChunk(static_cast<int>(i))->statistics();
        const bool known = statistics != nullptr && statistics->HasNullCount();
        nulls[i] = known && nulls[i] >= 0 ? nulls[i] - statistics->null_count() : -1;
      }
    }
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i].nested || nulls[i] == -1) continue;
      if (nulls[i] != 0) return Mismatch(fmt::format("nulls of column {}", leaves_[i].path));
    }
    if (rows != rows_)
      return Mismatch(fmt::format("{} rows written, {} in the footer", rows_, rows));
    return {};
  }

  Error Mismatch(const std::string& what) const {
    return Error(Code::kInternal, sink_->location().text() + ": " + what + " do not agree");
  }

  void DescribeChunks(const parquet::FileMetaData& footer, DataFile& file) const {
    for (int g = 0; g < footer.num_row_groups(); ++g) {
      const auto group = footer.RowGroup(g);
      const auto first = group->ColumnChunk(0);
      const std::int64_t data = first->data_page_offset();
      file.split_offsets.push_back(
          first->has_dictionary_page() ? std::min(first->dictionary_page_offset(), data) : data);
    }
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const FieldId id = leaves_[i].field.id;
      if (!plan_->metrics.ModeOf(id).counts()) continue;
      std::int64_t size = 0;
      for (int g = 0; g < footer.num_row_groups(); ++g) {
        size += footer.RowGroup(g)->ColumnChunk(static_cast<int>(i))->total_compressed_size();
      }
      file.column_sizes.emplace_back(id, size);
    }
    std::sort(file.column_sizes.begin(), file.column_sizes.end());
  }

  const std::shared_ptr<const WritePlan> plan_;
  const std::shared_ptr<WriterSink> sink_;
  const std::shared_ptr<arrow::MemoryPool> pool_;
  const std::vector<ParquetLeaf> leaves_;
  std::vector<std::int64_t> nulls_;  // per leaf; of flat columns
  const std::shared_ptr<parquet::ArrowWriterProperties> arrow_properties_;
  parquet::ArrowWriteContext context_;
  ColumnMetrics metrics_;
  std::unique_ptr<parquet::ParquetFileWriter> file_;
  parquet::RowGroupWriter* group_ = nullptr;
  std::int64_t group_bytes_ = 0;
  std::int64_t open_page_bytes_ = 0;  // of these in pages and dictionaries that are still open
  std::int64_t group_rows_ = 0;
  std::int64_t rows_ = 0;
  bool closed_ = false;
  std::vector<std::int16_t> ones_;
  std::vector<std::int16_t> levels_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> OpenParquetWriter(RunContext&, WriterInput input) {
  IW_ASSIGN(auto schema, ToParquetSchema(input.plan->schema));
  IW_ASSIGN(auto properties, MakeParquetProperties(*input.plan, input.pool.get()));
  auto key_values =
      arrow::key_value_metadata({"iceberg.schema"}, {DumpJson(input.plan->schema.ToJson())});
  std::unique_ptr<parquet::ParquetFileWriter> file;
  IW_TRY(GuardWrite(*input.sink, [&]() -> Status {
    file = parquet::ParquetFileWriter::Open(input.sink, std::move(schema), std::move(properties),
                                            std::move(key_values));
    return {};
  }));
  auto leaves = ParquetLeaves(input.plan->schema);
  return std::unique_ptr<FileWriter>(
      std::make_unique<ParquetWriter>(std::move(input), std::move(leaves), std::move(file)));
}

}  // namespace icewright
