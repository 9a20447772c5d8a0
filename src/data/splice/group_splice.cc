#include "data/splice/group_splice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/executor.h"
#include "table/literal.h"

namespace icewright::splice {
namespace {

double RowBytes(const RewriteGroupRequest& request) {
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const FileTask& task : request.tasks) {
    bytes += task.data_file.file_size_in_bytes;
    rows += task.data_file.record_count;
  }
  return rows > 0 ? static_cast<double>(bytes) / static_cast<double>(rows) : 1;
}

std::int64_t CountRows(const RowRanges& ranges) {
  std::int64_t rows = 0;
  for (const auto& [first, last] : ranges) rows += last - first;
  return rows;
}

constexpr std::int64_t kBatchBytes = 48 << 20;  // of columns that are loaded together

// A part of a small limit: chunks that are written side by side are held, too.
std::int64_t BatchBytes(RunContext& run) { return std::min(kBatchBytes, run.memory().limit() / 4); }

std::int64_t DecodedBytes(const DecodedPart& part) {
  return part.file == nullptr ? 0 : std::ssize(*part.file);
}

}  // namespace

std::int64_t GroupSplice::RollLimit() const {
  const bool last_expected = std::ssize(result_.added) + 1 == request_.expected_output_files;
  return request_.roll_at_bytes + (last_expected ? request_.roll_at_bytes / 10 : 0);
}

// Of compressed output that still may go into the row group.
std::int64_t GroupSplice::RowGroupLimit() const {
  const std::int64_t written = file_ == nullptr ? 0 : file_->bytes_written();
  return std::clamp<std::int64_t>(RollLimit() - written, 1, budget_.row_group_bytes);
}

Status GroupSplice::AddInput(RunContext& run, Input input) {
  const std::int64_t rows = input.rows();
  const std::int64_t bytes = input.task->data_file.file_size_in_bytes;
  result_.rows_read += rows;
  result_.bytes_read += bytes;
  inputs_.push_back(std::move(input));
  const Input& in = inputs_.back();
  std::vector<DecodedPart>& parts = parts_.emplace_back();
  const bool decodes =
      std::any_of(in.columns.begin(), in.columns.end(),
                  [](const ColumnPlan& plan) { return plan.from == ColumnPlan::From::kDecoded; });
  if (decodes) {
    IW_ASSIGN(parts, DecodeInput(run, setup_, *layout_, in, RowGroupLimit()));
    constexpr auto kDecode = static_cast<std::size_t>(Treatment::kDecode);
    treated_[kDecode] += ExpectedBytes(in)[kDecode];
  }
  if (in.decode_all) {
    std::int64_t kept = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      kept += parts[i].rows;
      IW_TRY(AddUnit(run, {.input = &in,
                           .part = &parts[i],
                           .rows = parts[i].rows,
                           .bytes = DecodedBytes(parts[i])}));
    }
    result_.rows_deleted += rows - kept;
    return {};
  }
  for (std::size_t g = 0; g < in.meta.groups.size(); ++g) {
    const RowGroup& group = in.meta.groups[g];
    const std::int64_t deleted = in.deleted.empty() ? 0 : CountRows(in.deleted[g]);
    result_.rows_deleted += deleted;
    Unit unit{.input = &in,
              .group = g,
              .part = decodes ? &parts[g] : nullptr,
              .rows = group.rows - deleted};
    if (unit.rows == 0) continue;
    if (unit.part != nullptr && unit.part->rows != unit.rows) {
      return Error(Code::kInternal, fmt::format("{}: {} rows decoded of a row group that keeps {}",
                                                in.name, unit.part->rows, unit.rows));
    }
    for (const ColumnChunk& chunk : group.columns) unit.bytes += chunk.compressed;
    IW_TRY(AddUnit(run, unit));
  }
  return {};
}

Status GroupSplice::AddUnit(RunContext& run, const Unit& unit) {
  const double shrink =
      bytes_in_ > 0 ? static_cast<double>(bytes_out_) / static_cast<double>(bytes_in_) : 1;
  const auto expected = [&](std::int64_t bytes) {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * shrink);
  };
  // Half a unit over the limit is nearer to it than half a unit below.
  if (!units_.empty() && expected(unit_bytes_ + unit.bytes / 2) > RowGroupLimit()) {
    IW_TRY(WriteRowGroup(run));
  }
  units_.push_back(unit);
  unit_bytes_ += unit.bytes;
  return expected(unit_bytes_) >= RowGroupLimit() ? WriteRowGroup(run) : Status{};
}

Status GroupSplice::LoadChunks(RunContext& run, std::size_t first, std::size_t end) {
  loader_.Clear();
  for (const Unit& unit : units_) {
    const Input& input = *unit.input;
    for (std::size_t i = first; i < end; ++i) {
      const ColumnPlan& plan = input.columns[i];
      if (plan.from != ColumnPlan::From::kChunks) continue;
      const RowGroup& group = input.meta.groups[unit.group];
      const ColumnChunk& chunk = group.columns[static_cast<std::size_t>(plan.leaf)];
      loader_.Want(input, chunk.range());
      loader_.Want(input, chunk.offset_index);
      loader_.Want(input, chunk.column_index);
    }
  }
  return loader_.Load(run, *setup_.io, request_.threads);
}

Source GroupSplice::ChunkSource(const OutputColumn& column, const ColumnPlan& plan,
                                const Unit& unit) const {
  const Input& input = *unit.input;
  const RowGroup& group = input.meta.groups[unit.group];
  const auto leaf = static_cast<std::size_t>(plan.leaf);
  Source source;
  source.name = &input.name;
  source.leaf = &input.meta.leaves[leaf];
  source.out_leaf = &column.leaf;
  source.chunk = &group.columns[leaf];
  source.rows = group.rows;
  source.bytes = loader_.Get(input, source.chunk->range());
  source.offset_index = loader_.Get(input, source.chunk->offset_index);
  source.column_index = loader_.Get(input, source.chunk->column_index);
  source.type_defined_order = input.meta.type_defined_order;
  const std::int64_t* nans = FindColumn(input.task->data_file.nan_value_counts, column.field.id);
  source.no_nans = nans != nullptr && *nans == 0;
  source.conversion = plan.conversion;
  if (!input.deleted.empty() && !input.deleted[unit.group].empty()) {
    source.deleted = &input.deleted[unit.group];
  }
  return source;
}

Source GroupSplice::PartSource(const OutputColumn& column, std::size_t index,
                               const Unit& unit) const {
  const DecodedPart& part = *unit.part;
  const auto leaf = static_cast<std::size_t>(part.leaves[index]);
  const auto view = [&](const FileRange& range) {
    return ByteView(*part.file)
        .substr(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.size));
  };
  Source source;
  source.name = &unit.input->name;
  source.leaf = &part.meta.leaves[leaf];
  source.out_leaf = &column.leaf;
  source.chunk = &part.meta.groups.front().columns[leaf];
  source.rows = part.rows;
  source.bytes = view(source.chunk->range());
  source.offset_index = view(source.chunk->offset_index);
  source.column_index = view(source.chunk->column_index);
  source.type_defined_order = part.meta.type_defined_order;
  source.of_input = false;
  source.metrics = &part.metrics;
  return source;
}

namespace {

// Row ids of the rows of a row group that stay.
void AppendRowIds(const Input& input, std::size_t group,
                  std::vector<std::pair<std::int64_t, std::int64_t>>& runs) {
  std::int64_t first = *input.task->data_file.first_row_id;
  for (std::size_t g = 0; g < group; ++g) first += input.meta.groups[g].rows;
  std::int64_t row = 0;
  if (!input.deleted.empty()) {
    for (const auto& [from, to] : input.deleted[group]) {
      runs.emplace_back(first + row, from - row);
      row = to;
    }
  }
  runs.emplace_back(first + row, input.meta.groups[group].rows - row);
}

}  // namespace

GroupSplice::ColumnJob GroupSplice::MakeJob(std::size_t index) const {
  using From = ColumnPlan::From;
  const OutputColumn& column = layout_->columns[index];
  ColumnJob job;
  job.sources.reserve(units_.size());
  const auto generate = [&](std::unique_ptr<GeneratedChunk> chunk, const Input& input,
                            Treatment treatment) {
    Source source;
    source.name = &input.name;
    source.leaf = source.out_leaf = &column.leaf;
    source.chunk = &chunk->chunk;
    source.rows = chunk->chunk.values;
    source.bytes = chunk->view();
    source.known_bounds = &chunk->bounds;
    source.type_defined_order = true;
    source.of_input = false;
    job.treated[static_cast<std::size_t>(treatment)] +=
        source.rows > 0 ? chunk->chunk.compressed : 0;
    job.sources.push_back(std::move(source));
    job.generated.push_back(std::move(chunk));
  };
  const std::int64_t page_rows = column.settings.page_rows;
  for (std::size_t u = 0; u < units_.size();) {
    const Unit& unit = units_[u];
    const ColumnPlan& plan = unit.input->columns[index];
    if (plan.from == From::kDecoded) {
      job.sources.push_back(PartSource(column, index, unit));
      ++u;
      continue;
    }
    if (plan.from == From::kChunks) {
      job.sources.push_back(ChunkSource(column, plan, unit));
      ++u;
      continue;
    }
    // Neighbours of the same kind make one chunk.
    std::int64_t rows = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> ids;
    for (; u < units_.size(); ++u) {
      const ColumnPlan& other = units_[u].input->columns[index];
      if (other.from != plan.from || !SameValue(other.constant, plan.constant)) break;
      rows += units_[u].rows;
      if (plan.from == From::kRowId) AppendRowIds(*units_[u].input, units_[u].group, ids);
    }
    if (plan.from == From::kNulls) {
      generate(MakeNulls(column.leaf, rows, page_rows), *unit.input, Treatment::kNull);
    } else if (plan.from == From::kConstant) {
      generate(MakeConstant(column.field, column.leaf, plan.constant, rows, page_rows), *unit.input,
               Treatment::kConstant);
    } else {
      generate(MakeSequence(column.leaf, ids, page_rows), *unit.input, Treatment::kConstant);
    }
  }
  return job;
}

Result<WrittenColumn> GroupSplice::WriteColumn(RunContext& run, ChunkWriter& writer,
                                               std::size_t index, ChunkSink& sink) const {
  const OutputColumn& column = layout_->columns[index];
  ColumnJob job = MakeJob(index);
  WrittenColumn out;
  IW_ASSIGN(out.chunk, writer.Write(run, column.leaf, column.settings, job.sources, sink));
  // Pages of generated and decoded chunks are no pages of inputs.
  TreatmentBytes treated = job.treated;
  for (std::size_t t = 0; t < kTreatments; ++t) treated[t] += out.chunk.treated[t];
  for (const Source& source : job.sources) {
    out.facts.Add(column.field, source);
  }
  out.chunk.treated = treated;
  return out;
}

// Columns [first, result) whose chunks are loaded together: column after column, so that memory is
// bounded whatever the size of a row group.
std::size_t GroupSplice::EndOfBatch(RunContext& run, std::size_t first) const {
  std::int64_t bytes = 0;
  std::size_t end = first;
  while (end < layout_->columns.size()) {
    for (const Unit& unit : units_) {
      const ColumnPlan& plan = unit.input->columns[end];
      if (plan.from != ColumnPlan::From::kChunks) continue;
      const RowGroup& group = unit.input->meta.groups[unit.group];
      bytes += group.columns[static_cast<std::size_t>(plan.leaf)].compressed;
    }
    if (end > first && bytes > BatchBytes(run)) break;
    ++end;
  }
  return end;
}

Status GroupSplice::WriteColumns(RunContext& run) {
  // Where memory is short chunks go straight into the file.
  const bool one_by_one = BatchBytes(run) < kBatchBytes;
  const auto threads = static_cast<std::size_t>(one_by_one ? 1 : std::max(request_.threads, 1));
  for (std::size_t first = 0; first < layout_->columns.size();) {
    const std::size_t end = EndOfBatch(run, first);
    IW_TRY(LoadChunks(run, first, end));
    for (; first < end; first += std::min(threads, end - first)) {
      IW_TRY(WriteSome(run, first, std::min(threads, end - first)));
    }
  }
  return {};
}

// `count` columns at once: the first straight into the file, the others into memory.
Status GroupSplice::WriteSome(RunContext& run, std::size_t first, std::size_t count) {
  writers_.resize(std::max(writers_.size(), count));
  std::vector<WrittenColumn> columns(count);
  sinks_.resize(writers_.size());
  IW_TRY(ParallelFor(run, count, static_cast<int>(count), [&](std::size_t i) -> Status {
    sinks_[i].Begin(run, i == 0 ? &file_->sink() : nullptr);
    IW_ASSIGN(columns[i], WriteColumn(run, writers_[i], first + i, sinks_[i]));
    return {};
  }));
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) IW_TRY(sinks_[i].Flush(file_->sink()));
    for (std::size_t t = 0; t < kTreatments; ++t) treated_[t] += columns[i].chunk.treated[t];
    file_->AddColumn(std::move(columns[i]));
  }
  return {};
}

Status GroupSplice::WriteRowGroup(RunContext& run) {
  if (units_.empty()) return {};
  if (file_ == nullptr) {
    const PartitionSpec* spec = setup_.metadata->FindSpec(request_.output_spec_id);
    const StructValue& partition = request_.tasks.front().data_file.partition;
    const std::string path =
        spec->is_unpartitioned() ? "" : spec->PathOf(setup_.metadata->schema(), partition);
    const Location location =
        setup_.locations->NewDataLocation(path, setup_.names->Next(0, group_id_));
    IW_ASSIGN(file_, FileBuilder::Open(layout_, *setup_.io, location));
  }
  const std::int64_t before = file_->bytes_written();
  file_->BeginGroup();
  IW_TRY(WriteColumns(run));
  std::int64_t rows = 0;
  for (const Unit& unit : units_) rows += unit.rows;
  IW_TRY(file_->EndGroup(rows));
  bytes_in_ += unit_bytes_;
  bytes_out_ += file_->bytes_written() - before;
  // The last input may have more row groups to come.
  const Input* last = units_.back().input;
  while (&inputs_.front() != last) {
    inputs_.pop_front();
    parts_.pop_front();
  }
  units_.clear();
  unit_bytes_ = 0;
  return file_->bytes_written() >= RollLimit() ? CloseFile(run) : Status{};
}

Status GroupSplice::CloseFile(RunContext& run) {
  if (file_ == nullptr) return {};
  const std::unique_ptr<FileBuilder> file = std::move(file_);
  IW_ASSIGN(DataFile described, file->Close(run));
  described.partition = request_.tasks.front().data_file.partition;
  described.spec_id = request_.output_spec_id;
  described.sort_order_id = TableOrderId(*setup_.metadata, request_.sort_order);
  result_.rows_written += described.record_count;
  result_.bytes_written += described.file_size_in_bytes;
  result_.added.push_back(std::move(described));
  return {};
}

Result<RewrittenGroup> GroupSplice::Execute(RunContext& run, std::vector<Input> inputs) {
  budget_ = PlanWriteBudget(run.memory().limit(), run.threads(), *layout_->plan,
                            static_cast<std::int64_t>(RowBytes(request_)));
  for (Input& input : inputs) {
    IW_TRY(run.Check());
    IW_TRY(AddInput(run, std::move(input)));
  }
  IW_TRY(WriteRowGroup(run));
  IW_TRY(CloseFile(run));
  if (result_.rows_read != result_.rows_written + result_.rows_deleted) {
    return Error(Code::kInternal,
                 fmt::format("{} rows read, {} deleted, {} written", result_.rows_read,
                             result_.rows_deleted, result_.rows_written));
  }
  for (std::size_t t = 0; t < kTreatments; ++t) {
    if (treated_[t] == 0) continue;
    result_.bytes_by_treatment[std::string(Name(static_cast<Treatment>(t)))] = treated_[t];
  }
  if (setup_.locations->has_foreign_provider()) {
    result_.notes.push_back("write.location-provider.impl is a class of Java's and was not used");
  }
  if (request_.sort_order && !request_.sort_order->fields.empty() &&
      TableOrderId(*setup_.metadata, request_.sort_order) == SortOrderId{0}) {
    result_.notes.emplace_back(kForeignOrder);
  }
  result_.notes.insert(result_.notes.end(), budget_.notes.begin(), budget_.notes.end());
  return std::move(result_);
}

std::vector<Location> GroupSplice::WrittenFiles() const {
  std::vector<Location> out;
  for (const DataFile& file : result_.added) out.push_back(file.file_path);
  return out;
}

}  // namespace icewright::splice
