#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>

#include "base/text.h"
#include "data/arrow_bridge.h"
#include "data/column_metrics.h"
#include "data/format_writers.h"
#include "data/orc_schema.h"

namespace icewright {
namespace {

using arrow::adapters::orc::ORCFileWriter;
using OrcOptions = arrow::adapters::orc::WriteOptions;

// Stripes are encoded inside the ORC library, which does not tell how full they are: the size of
// what it holds is estimated by the ratio of the stripes before, at first by one half.
constexpr double kFirstRatio = 0.5;

class OrcWriter final : public FileWriter {
 public:
  OrcWriter(WriterInput input, std::shared_ptr<arrow::Schema> schema,
            std::unique_ptr<ORCFileWriter> file)
      : plan_(std::move(input.plan)),
        sink_(std::move(input.sink)),
        pool_(std::move(input.pool)),
        schema_(std::move(schema)),
        metrics_(plan_->schema, plan_->metrics),
        file_(std::move(file)) {}

  ~OrcWriter() override {
    if (!closed_) sink_->Abandon();
  }

  Status Write(RunContext& run, const arrow::RecordBatch& batch) override {
    IW_TRY(run.Check());
    IW_TRY(CheckRequired(batch));
    IW_TRY(metrics_.Update(batch));
    IW_ASSIGN(const auto converted, ToOrcBatch(plan_->schema, schema_, batch, pool_.get()));
    IW_TRY(Guarded([&] { return CheckArrow(file_->Write(*converted)); }));
    rows_ += batch.num_rows();
    raw_ += BytesPerRow(batch) * batch.num_rows();
    if (sink_->bytes_written() > flushed_) {
      flushed_ = sink_->bytes_written();
      raw_flushed_ = raw_;
    }
    return {};
  }

  std::int64_t estimated_bytes() const override { return flushed_ + buffered_bytes(); }
  std::int64_t buffered_bytes() const override {
    const double ratio = raw_flushed_ > 0 && flushed_ > 1024
                             ? static_cast<double>(flushed_) / static_cast<double>(raw_flushed_)
                             : kFirstRatio;
    return static_cast<std::int64_t>(static_cast<double>(raw_ - raw_flushed_) * ratio);
  }
  Status EndRowGroup(RunContext&) override { return {}; }  // the library ends stripes itself

  Result<DataFile> Close(RunContext& run) override {
    IW_TRY(run.Check());
    IW_TRY(Guarded([&] { return CheckArrow(file_->Close()); }));
    const std::int64_t size = sink_->bytes_written();
    IW_TRY(sink_->Finish());
    closed_ = true;
    DataFile file = DescribeFile(*plan_, sink_->location(), rows_, size);
    metrics_.Finish(file);
    return file;
  }

 private:
  Status Guarded(const std::function<Status()>& fn) { return GuardWrite(*sink_, fn); }

  Status CheckRequired(const arrow::RecordBatch& batch) const {
    const std::vector<Field>& fields = plan_->schema.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].required && batch.column(static_cast<int>(i))->null_count() > 0) {
        return Error(Code::kCorrupt, "required column " + fields[i].name + " has nulls");
      }
    }
    return {};
  }

  std::shared_ptr<const WritePlan> plan_;
  std::shared_ptr<WriterSink> sink_;
  std::shared_ptr<arrow::MemoryPool> pool_;
  std::shared_ptr<arrow::Schema> schema_;
  ColumnMetrics metrics_;
  std::unique_ptr<ORCFileWriter> file_;
  std::int64_t rows_ = 0;
  std::int64_t raw_ = 0;
  std::int64_t raw_flushed_ = 0;
  std::int64_t flushed_ = 0;
  bool closed_ = false;
};

Result<OrcOptions> MakeOptions(const WritePlan& plan) {
  struct Choice {
    std::string_view name;
    arrow::Compression::type codec;
  };
  static constexpr Choice kChoices[] = {
      {"none", arrow::Compression::UNCOMPRESSED}, {"zlib", arrow::Compression::GZIP},
      {"snappy", arrow::Compression::SNAPPY},     {"lz4", arrow::Compression::LZ4},
      {"zstd", arrow::Compression::ZSTD},
  };
  const Properties& properties = plan.metadata->properties;
  const std::string name =
      ToLower(StringProperty(properties, "write.orc.compression-codec", "zlib"));
  const auto* choice = std::find_if(std::begin(kChoices), std::end(kChoices),
                                    [&](const Choice& c) { return c.name == name; });
  if (choice == std::end(kChoices)) {
    return Error(Code::kUnsupported, "write.orc.compression-codec=" + name);
  }
  OrcOptions options;
  options.compression = choice->codec;
  options.compression_strategy =
      ToLower(StringProperty(properties, "write.orc.compression-strategy", "speed")) ==
              "compression"
          ? arrow::adapters::orc::CompressionStrategy::kCompression
          : arrow::adapters::orc::CompressionStrategy::kSpeed;
  options.stripe_size = plan.row_group_bytes;
  return options;
}

}  // namespace

Result<std::unique_ptr<FileWriter>> OpenOrcWriter(RunContext&, WriterInput input) {
  IW_ASSIGN(auto schema, ToOrcSchema(input.plan->schema));
  IW_ASSIGN(const OrcOptions options, MakeOptions(*input.plan));
  std::unique_ptr<ORCFileWriter> file;
  IW_TRY(GuardWrite(*input.sink, [&]() -> Status {
    IW_ASSIGN(file, FromArrow(ORCFileWriter::Open(input.sink.get(), options)));
    return {};
  }));
  return std::unique_ptr<FileWriter>(
      std::make_unique<OrcWriter>(std::move(input), std::move(schema), std::move(file)));
}

}  // namespace icewright
