#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <algorithm>

#include "codec/json.h"
#include "data/arrow_bridge.h"
#include "data/column_metrics.h"
#include "data/dictionary_choice.h"
#include "data/format_writers.h"
#include "data/parquet_row_groups.h"
#include "data/parquet_schema.h"
#include "data/parquet_settings.h"

namespace icewright {
namespace {

// Writes through Arrow's column writers rather than its table writer: those take dictionaries as
// they come, and the schema keeps what Arrow's types cannot say (uuid, names that Java sanitises).
class ParquetWriter final : public FileWriter {
 public:
  ParquetWriter(WriterInput input, std::shared_ptr<parquet::schema::GroupNode> schema)
      : plan_(std::move(input.plan)),
        sink_(std::move(input.sink)),
        pool_(std::move(input.pool)),
        leaves_(ParquetLeaves(plan_->schema)),
        schema_(std::move(schema)),
        metrics_(plan_->schema, plan_->metrics) {}

  ~ParquetWriter() override {
    if (!closed_) sink_->Abandon();
  }

  Status Write(RunContext& run, const arrow::RecordBatch& batch) override {
    if (batch.num_rows() == 0) return {};
    if (file_ == nullptr) IW_TRY(Open(NearUniqueColumns(batch, leaves_)));
    IW_TRY(metrics_.Update(batch));
    const std::int64_t raw_row_bytes = BytesPerRow(batch);
    for (std::int64_t done = 0; done < batch.num_rows();) {
      IW_TRY(run.Check());
      const std::int64_t rows =
          std::min(row_groups_->RowsThatFit(raw_row_bytes), batch.num_rows() - done);
      const std::shared_ptr<arrow::RecordBatch> slice =
          rows == batch.num_rows() ? nullptr : batch.Slice(done, rows);
      IW_TRY(Guarded([&] { return row_groups_->Add(run, slice ? *slice : batch); }));
      rows_ += rows;
      done += rows;
      if (row_groups_->is_full()) IW_TRY(EndRowGroup(run));
    }
    return {};
  }

  std::int64_t estimated_bytes() const override {
    return sink_->bytes_written() + open_group().bytes;
  }
  std::int64_t uncompressed_bytes() const override { return open_group().unencoded_bytes; }
  std::int64_t buffered_bytes() const override { return open_group().held_bytes; }

  Status EndRowGroup(RunContext& run) override {
    if (file_ == nullptr) return {};
    return Guarded([&] { return row_groups_->End(run); });
  }

  Result<DataFile> Close(RunContext& run) override {
    if (file_ == nullptr) IW_TRY(Open({}));
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

  // When the first rows are there: they show which columns get no dictionary.
  Status Open(const std::vector<std::string>& plain) {
    IW_ASSIGN(auto properties, MakeParquetProperties(*plan_, pool_.get(), plain));
    auto key_values =
        arrow::key_value_metadata({"iceberg.schema"}, {DumpJson(plan_->schema.ToJson())});
    IW_TRY(Guarded([&]() -> Status {
      file_ = parquet::ParquetFileWriter::Open(sink_, schema_, std::move(properties),
                                               std::move(key_values));
      return {};
    }));
    row_groups_ = MakeRowGroups({plan_.get(), &leaves_, pool_.get(), file_.get()});
    return {};
  }

  OpenRowGroup open_group() const {
    return row_groups_ == nullptr ? OpenRowGroup{} : row_groups_->open();
  }

  static std::unique_ptr<RowGroups> MakeRowGroups(const RowGroupsInput& input) {
    return input.plan->raw_row_group_bytes ? MakeRowGroupsByColumn(input)
                                           : MakeRowGroupsSideBySide(input);
  }

  // The footer's own counts must be those of the rows that came in.
  Status CheckFooter(const parquet::FileMetaData& footer) const {
    std::int64_t rows = 0;
    std::vector<std::int64_t> nulls = row_groups_->nulls();
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
  const std::shared_ptr<parquet::schema::GroupNode> schema_;
  ColumnMetrics metrics_;
  std::unique_ptr<parquet::ParquetFileWriter> file_;  // null before the first rows
  std::unique_ptr<RowGroups> row_groups_;
  std::int64_t rows_ = 0;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> OpenParquetWriter(RunContext&, WriterInput input) {
  IW_ASSIGN(auto schema, ToParquetSchema(input.plan->schema));
  // Settings that cannot be kept are refused before there are rows.
  IW_TRY(MakeParquetProperties(*input.plan, input.pool.get()));
  return std::unique_ptr<FileWriter>(
      std::make_unique<ParquetWriter>(std::move(input), std::move(schema)));
}

}  // namespace icewright
