#include "data/splice/decoded_input.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <limits>

#include "data/arrow_bridge.h"
#include "data/file_writer.h"
#include "io/memory_file_io.h"

namespace icewright::splice {
namespace {

Field PositionField() {
  return {
      .id = kRowPositionField, .name = "_pos", .required = true, .type = Type::Of(TypeId::kLong)};
}

std::vector<Field> DecodedFields(const Layout& layout, const Input& input) {
  const std::vector<Field>& all = layout.plan->schema.fields();
  std::vector<bool> wanted(all.size(), false);
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (input.columns[i].from != ColumnPlan::From::kDecoded) continue;
    wanted[static_cast<std::size_t>(layout.columns[i].top_level)] = true;
  }
  std::vector<Field> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted[i]) out.push_back(all[i]);
  }
  return out;
}

// Writes batches into parts.
class PartWriter {
 public:
  PartWriter(const Layout& layout, const std::vector<Field>& fields, RunContext& run)
      : layout_(layout), io_(MakeMemoryFileIO()), pool_(MakePool(run)) {
    auto plan = std::make_shared<WritePlan>(*layout.plan);
    plan->schema = Schema(fields, layout.plan->schema.id());
    plan->row_group_bytes = std::numeric_limits<std::int64_t>::max() / 4;
    plan_ = std::move(plan);
  }

  Status Write(RunContext& run, const arrow::RecordBatch& batch) {
    if (batch.num_rows() == 0) return {};
    if (writer_ == nullptr) {
      IW_ASSIGN(writer_, CreateFileWriter(run, plan_, *io_, location_, pool_));
    }
    return writer_->Write(run, batch);
  }

  std::int64_t bytes() const { return writer_ == nullptr ? 0 : writer_->estimated_bytes(); }

  Result<DecodedPart> Finish(RunContext& run) {
    DecodedPart part;
    part.leaves.assign(layout_.columns.size(), -1);
    if (writer_ == nullptr) return part;
    IW_ASSIGN(part.metrics, writer_->Close(run));
    writer_.reset();
    IW_ASSIGN(Bytes file, ReadFile(*io_, location_, std::numeric_limits<std::int64_t>::max()));
    IW_TRY(io_->Delete(location_));
    part.rows = part.metrics.record_count;
    const std::size_t size = file.size();
    file.append(kSlack, '\0');
    part.file = std::make_unique<const Bytes>(std::move(file));
    const std::size_t footer = LoadLittle<std::uint32_t>(part.file->data() + size - 8);
    IW_ASSIGN(part.meta, ParseFooter(ByteView(*part.file).substr(size - 8 - footer, footer)));
    if (part.meta.groups.size() != 1) {
      return Error(Code::kInternal, "decoded columns are in more than one row group");
    }
    for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
      for (std::size_t k = 0; k < part.meta.leaves.size(); ++k) {
        if (part.meta.leaves[k].nodes == layout_.columns[i].leaf.nodes) {
          part.leaves[i] = static_cast<int>(k);
        }
      }
    }
    return part;
  }

 private:
  const Layout& layout_;
  const Location location_ = Location("memory:/part.parquet");
  std::shared_ptr<FileIO> io_;
  std::shared_ptr<arrow::MemoryPool> pool_;
  std::shared_ptr<const WritePlan> plan_;
  std::unique_ptr<FileWriter> writer_;
};

Result<std::unique_ptr<BatchReader>> OpenColumns(RunContext& run, const GroupRewriteSetup& setup,
                                                 const Input& input, std::vector<Field> fields) {
  IW_ASSIGN(auto plan, MakeReadPlan(setup.metadata, Schema(std::move(fields))));
  return OpenTask(run, std::move(plan), setup.io, setup.deletes, *input.task, MakePool(run));
}

Status CheckRows(const Input& input, const BatchReader& reader) {
  if (reader.counts().rows_read == input.rows()) return {};
  return Error(Code::kCorrupt, input.name + ": its manifest entry says " +
                                   std::to_string(input.rows()) + " rows, it has " +
                                   std::to_string(reader.counts().rows_read));
}

Result<std::vector<DecodedPart>> DecodeWhole(RunContext& run, const GroupRewriteSetup& setup,
                                             const Layout& layout, const Input& input,
                                             std::int64_t part_bytes) {
  std::vector<DecodedPart> parts;
  const std::vector<Field>& fields = layout.plan->schema.fields();
  PartWriter writer(layout, fields, run);
  IW_ASSIGN(const auto reader, OpenColumns(run, setup, input, fields));
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) break;
    IW_TRY(writer.Write(run, *batch));
    if (writer.bytes() < part_bytes) continue;
    IW_ASSIGN(DecodedPart part, writer.Finish(run));
    parts.push_back(std::move(part));
  }
  IW_TRY(CheckRows(input, *reader));
  IW_ASSIGN(DecodedPart last, writer.Finish(run));
  if (last.rows > 0) parts.push_back(std::move(last));
  return parts;
}

// First index of `positions` from `at` on that is not below `end`.
std::int64_t FirstFrom(const arrow::Int64Array& positions, std::int64_t at, std::int64_t end) {
  const std::int64_t* const values = positions.raw_values();
  return std::lower_bound(values + at, values + positions.length(), end) - values;
}

Result<std::vector<DecodedPart>> DecodeSome(RunContext& run, const GroupRewriteSetup& setup,
                                            const Layout& layout, const Input& input) {
  std::vector<Field> fields = DecodedFields(layout, input);
  PartWriter writer(layout, fields, run);
  fields.push_back(PositionField());
  IW_ASSIGN(const auto reader, OpenColumns(run, setup, input, fields));
  std::vector<DecodedPart> parts;
  std::int64_t end = 0;  // of the rows of the part that is open
  const auto finish_part = [&]() -> Status {
    IW_ASSIGN(DecodedPart part, writer.Finish(run));
    parts.push_back(std::move(part));
    return {};
  };
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) break;
    const int last = batch->num_columns() - 1;
    const auto& positions = static_cast<const arrow::Int64Array&>(*batch->column(last));
    IW_ASSIGN(const auto values, FromArrow(batch->RemoveColumn(last)));
    for (std::int64_t at = 0; at < batch->num_rows();) {
      while (parts.size() < input.meta.groups.size() &&
             positions.Value(at) >= end + input.meta.groups[parts.size()].rows) {
        end += input.meta.groups[parts.size()].rows;
        IW_TRY(finish_part());
      }
      if (parts.size() == input.meta.groups.size()) {
        return Error(Code::kCorrupt, input.name + ": more rows than its row groups have");
      }
      const std::int64_t stop =
          FirstFrom(positions, at, end + input.meta.groups[parts.size()].rows);
      IW_TRY(writer.Write(run, *values->Slice(at, stop - at)));
      at = stop;
    }
  }
  IW_TRY(CheckRows(input, *reader));
  while (parts.size() < input.meta.groups.size()) IW_TRY(finish_part());
  return parts;
}

}  // namespace

Result<std::vector<DecodedPart>> DecodeInput(RunContext& run, const GroupRewriteSetup& setup,
                                             const Layout& layout, const Input& input,
                                             std::int64_t part_bytes) {
  auto parts = input.decode_all ? DecodeWhole(run, setup, layout, input, part_bytes)
                                : DecodeSome(run, setup, layout, input);
  if (!parts) return parts;
  for (const DecodedPart& part : *parts) {
    for (std::size_t i = 0; i < input.columns.size() && part.rows > 0; ++i) {
      if (input.columns[i].from == ColumnPlan::From::kDecoded && part.leaves[i] < 0) {
        return Error(Code::kInternal,
                     input.name + ": column " + layout.columns[i].path + " was not decoded");
      }
    }
  }
  return parts;
}

Result<std::vector<RowRanges>> DeletedRows(RunContext& run, const GroupRewriteSetup& setup,
                                           const Input& input) {
  IW_ASSIGN(const auto reader, OpenColumns(run, setup, input, {PositionField()}));
  RowRanges deleted;  // in the file
  std::int64_t next = 0;
  for (;;) {
    IW_ASSIGN(const auto batch, reader->Next(run));
    if (batch == nullptr) break;
    const auto& positions = static_cast<const arrow::Int64Array&>(*batch->column(0));
    for (std::int64_t i = 0; i < positions.length(); ++i) {
      if (positions.Value(i) != next) deleted.emplace_back(next, positions.Value(i));
      next = positions.Value(i) + 1;
    }
  }
  IW_TRY(CheckRows(input, *reader));
  if (next != input.rows()) deleted.emplace_back(next, input.rows());
  std::vector<RowRanges> out;
  std::int64_t first = 0;
  for (const RowGroup& group : input.meta.groups) {
    RowRanges& mine = out.emplace_back();
    const std::int64_t end = first + group.rows;
    for (const auto& [from, to] : deleted) {
      if (to <= first || from >= end) continue;
      mine.emplace_back(std::max(from, first) - first, std::min(to, end) - first);
    }
    first = end;
  }
  return out;
}

}  // namespace icewright::splice
