#include "data/parquet_row_groups.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>
#include <parquet/column_writer.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/format_writers.h"
#include "data/parquet_levels.h"

namespace icewright {
namespace {

constexpr std::int64_t kMinRowsPerStep = 100;

// Values of batches into column writers.
class LeafWriter {
 public:
  explicit LeafWriter(const RowGroupsInput& input)
      : leaves_(*input.leaves),
        nulls_(leaves_.size(), 0),
        properties_(parquet::ArrowWriterProperties::Builder().build()),
        context_(input.pool, properties_.get()) {}

  const std::vector<std::int64_t>& nulls() const { return nulls_; }

  Status WriteFlat(parquet::ColumnWriter& column, std::size_t leaf, const arrow::Array& array) {
    const bool nullable = !leaves_[leaf].field.required;
    const std::int16_t* levels = nullptr;
    if (nullable) {
      levels = DefinitionLevels(array);
      nulls_[leaf] += array.null_count();
    } else if (array.null_count() > 0) {
      return Error(Code::kCorrupt, fmt::format("required column {} has {} nulls",
                                               leaves_[leaf].field.name, array.null_count()));
    }
    return CheckArrow(
        column.WriteArrow(levels, nullptr, array.length(), array, &context_, nullable),
        leaves_[leaf].path);
  }

  Status WriteNested(parquet::ColumnWriter& column, std::size_t leaf, const LeafLevels& levels) {
    return CheckArrow(
        column.WriteArrow(levels.definition.data(),
                          levels.repetition.empty() ? nullptr : levels.repetition.data(),
                          static_cast<std::int64_t>(levels.definition.size()), *levels.values,
                          &context_, levels.nullable),
        leaves_[leaf].path);
  }

 private:
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

  const std::vector<ParquetLeaf>& leaves_;
  std::vector<std::int64_t> nulls_;
  const std::shared_ptr<parquet::ArrowWriterProperties> properties_;
  parquet::ArrowWriteContext context_;
  std::vector<std::int16_t> ones_;
  std::vector<std::int16_t> levels_;
};

class SideBySide final : public RowGroups {
 public:
  explicit SideBySide(const RowGroupsInput& input) : input_(input), writer_(input) {}

  const std::vector<std::int64_t>& nulls() const override { return writer_.nulls(); }
  bool is_full() const override { return open_.bytes >= input_.plan->row_group_bytes; }

  std::int64_t RowsThatFit(std::int64_t raw_row_bytes) const override {
    const std::int64_t row_bytes = open_.rows < kMinRowsPerStep
                                       ? raw_row_bytes
                                       : std::max<std::int64_t>(open_.bytes / open_.rows, 1);
    return std::max((input_.plan->row_group_bytes - open_.bytes) / row_bytes, kMinRowsPerStep);
  }

  Status Add(RunContext&, const arrow::RecordBatch& rows) override {
    if (group_ == nullptr) group_ = input_.file->AppendBufferedRowGroup();
    const std::vector<ParquetLeaf>& leaves = *input_.leaves;
    for (std::size_t i = 0; i < leaves.size();) {
      const int top_level = leaves[i].top_level;
      const std::shared_ptr<arrow::Array> column = rows.column(top_level);
      if (leaves[i].nested) {
        IW_TRY(VisitLeaves(input_.plan->schema.fields()[static_cast<std::size_t>(top_level)],
                           column, input_.pool, [&](const LeafLevels& levels) {
                             const std::size_t leaf = i++;
                             return writer_.WriteNested(Column(leaf), leaf, levels);
                           }));
      } else {
        IW_TRY(writer_.WriteFlat(Column(i), i, *column));
        ++i;
      }
    }
    open_.rows += rows.num_rows();
    const parquet::RowGroupWriter::BufferedStats buffered = group_->estimated_buffered_stats();
    open_.unencoded_bytes = buffered.def_level_bytes + buffered.rep_level_bytes +
                            buffered.value_bytes + buffered.dict_bytes;
    open_.bytes = group_->total_compressed_bytes() + group_->total_compressed_bytes_written() +
                  open_.unencoded_bytes;
    open_.held_bytes = open_.bytes;
    return {};
  }

  Status End(RunContext&) override {
    if (group_ == nullptr) return {};
    group_->Close();
    group_ = nullptr;
    open_ = {};
    return {};
  }

 private:
  parquet::ColumnWriter& Column(std::size_t leaf) {
    return *group_->column(static_cast<int>(leaf));
  }

  const RowGroupsInput input_;
  LeafWriter writer_;
  parquet::RowGroupWriter* group_ = nullptr;
};

class ByColumn final : public RowGroups {
 public:
  explicit ByColumn(const RowGroupsInput& input)
      : input_(input), writer_(input), columns_(input.plan->schema.fields().size()) {}

  const std::vector<std::int64_t>& nulls() const override { return writer_.nulls(); }
  bool is_full() const override {
    return open_.bytes >= input_.plan->row_group_bytes || open_.held_bytes >= MaxRaw();
  }

  std::int64_t RowsThatFit(std::int64_t raw_row_bytes) const override {
    const auto encoded = static_cast<std::int64_t>(
        static_cast<double>(input_.plan->row_group_bytes) / encoded_per_raw_);
    return std::max((std::min(MaxRaw(), encoded) - open_.held_bytes) / raw_row_bytes,
                    kMinRowsPerStep);
  }

  Status Add(RunContext&, const arrow::RecordBatch& rows) override {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].push_back(rows.column(static_cast<int>(i)));
    }
    open_.rows += rows.num_rows();
    open_.held_bytes += BytesPerRow(rows) * rows.num_rows();
    open_.bytes =
        static_cast<std::int64_t>(static_cast<double>(open_.held_bytes) * encoded_per_raw_);
    open_.unencoded_bytes = open_.bytes;
    return {};
  }

  Status End(RunContext& run) override {
    if (open_.rows == 0) return {};
    parquet::RowGroupWriter* const group = input_.file->AppendRowGroup();
    const std::vector<ParquetLeaf>& leaves = *input_.leaves;
    std::size_t leaf_in_column = 0;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaf_in_column =
          i > 0 && leaves[i].top_level == leaves[i - 1].top_level ? leaf_in_column + 1 : 0;
      IW_TRY(WriteLeaf(run, *group->NextColumn(), i, leaf_in_column));
      const bool last = i + 1 == leaves.size() || leaves[i + 1].top_level != leaves[i].top_level;
      if (last) columns_[static_cast<std::size_t>(leaves[i].top_level)].clear();
    }
    group->Close();
    encoded_per_raw_ =
        std::clamp(static_cast<double>(group->total_compressed_bytes_written()) /
                       static_cast<double>(std::max<std::int64_t>(open_.held_bytes, 1)),
                   0.001, 1.0);
    for (arrow::ArrayVector& column : columns_) column.clear();  // those of unknown type, too
    open_ = {};
    return {};
  }

 private:
  std::int64_t MaxRaw() const {
    return input_.plan->raw_row_group_bytes.value_or(input_.plan->row_group_bytes);
  }

  Status WriteLeaf(RunContext& run, parquet::ColumnWriter& column, std::size_t leaf,
                   std::size_t leaf_in_column) {
    const ParquetLeaf& at = (*input_.leaves)[leaf];
    const auto top_level = static_cast<std::size_t>(at.top_level);
    for (const std::shared_ptr<arrow::Array>& array : columns_[top_level]) {
      IW_TRY(run.Check());
      if (!at.nested) {
        IW_TRY(writer_.WriteFlat(column, leaf, *array));
        continue;
      }
      IW_TRY(VisitLeaf(
          input_.plan->schema.fields()[top_level], leaf_in_column, array, input_.pool,
          [&](const LeafLevels& levels) { return writer_.WriteNested(column, leaf, levels); }));
    }
    return {};
  }

  const RowGroupsInput input_;
  LeafWriter writer_;
  std::vector<arrow::ArrayVector> columns_;  // of the row group at hand, by column of the schema
  double encoded_per_raw_ = 1;               // as the last row group turned out
};

}  // namespace

std::unique_ptr<RowGroups> MakeRowGroupsSideBySide(const RowGroupsInput& input) {
  return std::make_unique<SideBySide>(input);
}

std::unique_ptr<RowGroups> MakeRowGroupsByColumn(const RowGroupsInput& input) {
  return std::make_unique<ByColumn>(input);
}

}  // namespace icewright
