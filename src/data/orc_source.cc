#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <charconv>

#include "data/arrow_bridge.h"
#include "data/source_file.h"

namespace icewright {
namespace {

std::optional<FieldId> FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return {};
  const auto text = field.metadata()->Get("iceberg.id");
  if (!text.ok()) return {};
  std::int32_t id = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, ec] = std::from_chars(text->data(), end, id);
  if (ec != std::errc() || stop != end) return {};
  return FieldId{id};
}

SourceField ToSource(const arrow::Field& in, int column) {
  SourceField out{.name = in.name(), .id = FieldIdOf(in), .type = in.type()};
  out.leaf = column;
  if (in.type()->id() == arrow::Type::MAP) {
    const auto& map = static_cast<const arrow::MapType&>(*in.type());
    out.children.push_back(ToSource(*map.key_field(), column));
    out.children.push_back(ToSource(*map.item_field(), column));
    return out;
  }
  for (const auto& child : in.type()->fields()) out.children.push_back(ToSource(*child, column));
  return out;
}

/// Arrow reads ORC's timestamps as nanoseconds, which reach from 1677 to 2262 only, and says so.
Status FromOrc(const arrow::Status& status) {
  if (status.message().find("nanosecond resolution") == std::string::npos) {
    return CheckArrow(status);
  }
  return Error(Code::kUnsupported, status.message());
}

/// Stripe by stripe. ORC chooses top-level columns only, so a chosen column is read whole.
class OrcSource final : public SourceFile {
 public:
  OrcSource(const SourceOptions& options, std::shared_ptr<arrow::MemoryPool> pool)
      : options_(options), pool_(std::move(pool)) {}

  Status Open(std::unique_ptr<InputFile> input) {
    return Guard("", [&]() -> Status {
      IW_ASSIGN(reader_, FromArrow(arrow::adapters::orc::ORCFileReader::Open(
                             ToArrowFile(std::move(input), pool_.get()), pool_.get())));
      IW_ASSIGN(std::shared_ptr<arrow::Schema> schema, FromArrow(reader_->ReadSchema()));
      for (int i = 0; i < schema->num_fields(); ++i) {
        fields_.push_back(ToSource(*schema->field(i), i));
      }
      return {};
    });
  }

  Status Select() override {
    for (SourceField& field : fields_) {
      if (!field.selected) continue;
      SelectAll(field);
      columns_.push_back(field.leaf);
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
    if (columns_.empty()) {
      const std::int64_t left = reader_->NumberOfRows() - next_row_;
      if (left > 0) out = Take(std::min(left, options_.batch_rows));
      return {};
    }
    for (;;) {
      if (stripe_ == nullptr) {
        IW_ASSIGN(stripe_, FromArrow(reader_->NextStripeReader(options_.batch_rows, columns_)));
        if (stripe_ == nullptr) return CheckEnd();
      }
      std::shared_ptr<arrow::RecordBatch> batch;
      IW_TRY(FromOrc(stripe_->ReadNext(&batch)));
      if (batch == nullptr || batch->num_rows() == 0) {
        stripe_ = nullptr;
        IW_TRY(run.Check());
        continue;
      }
      if (batch->num_columns() != static_cast<int>(columns_.size())) {
        return Error(Code::kInternal, "ORC gave " + std::to_string(batch->num_columns()) +
                                          " columns instead of " + std::to_string(columns_.size()));
      }
      out = Take(batch->num_rows());
      out->columns = batch->columns();
      return {};
    }
  }

  Status CheckEnd() const {
    if (next_row_ == reader_->NumberOfRows()) return {};
    return Error(Code::kCorrupt, "the stripes hold " + std::to_string(next_row_) +
                                     " rows, the footer "
                                     "says " +
                                     std::to_string(reader_->NumberOfRows()));
  }

  SourceBatch Take(std::int64_t rows) {
    SourceBatch batch{.first_row = next_row_, .rows = rows, .columns = {}};
    next_row_ += rows;
    return batch;
  }

  SourceOptions options_;
  std::shared_ptr<arrow::MemoryPool> pool_;  // first: outlives what is allocated from it
  std::unique_ptr<arrow::adapters::orc::ORCFileReader> reader_;
  std::shared_ptr<arrow::RecordBatchReader> stripe_;
  std::vector<int> columns_;
  std::int64_t next_row_ = 0;
};

}  // namespace

Result<std::unique_ptr<SourceFile>> OpenOrcSource(std::unique_ptr<InputFile> file,
                                                  const SourceOptions& options,
                                                  std::shared_ptr<arrow::MemoryPool> pool) {
  auto source = std::make_unique<OrcSource>(options, std::move(pool));
  IW_TRY(source->Open(std::move(file)));
  return source;
}

}  // namespace icewright
