#include "data/splice/input.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/splice/column_plan.h"

namespace icewright::splice {
namespace {

constexpr std::int64_t kTailBytes = 64 << 10;
constexpr std::int64_t kFrameBytes = 8;  // length of the footer, and PAR1

Status ReadExactly(InputFile& file, std::int64_t offset, std::span<char> out) {
  IW_ASSIGN(const std::size_t read, file.ReadAt(offset, out));
  if (read != out.size()) return Error(Code::kCorrupt, "the file is shorter than its size");
  return {};
}

Result<Bytes> ReadFooter(InputFile& file, std::int64_t size) {
  if (size < 12) return Error(Code::kCorrupt, fmt::format("no Parquet file: {} bytes", size));
  Bytes tail(static_cast<std::size_t>(std::min(size, kTailBytes)), '\0');
  IW_TRY(ReadExactly(file, size - std::ssize(tail), {tail.data(), tail.size()}));
  const ByteView magic = ByteView(tail).substr(tail.size() - 4);
  if (magic == "PARE") return Error(Code::kUnsupported, "the Parquet footer is encrypted");
  if (magic != "PAR1") return Error(Code::kCorrupt, "no Parquet file: it does not end with PAR1");
  const std::int64_t length = LoadLittle<std::uint32_t>(tail.data() + tail.size() - kFrameBytes);
  if (length > size - 12) {
    return Error(Code::kCorrupt, fmt::format("a footer of {} bytes in a file of {}", length, size));
  }
  if (length + kFrameBytes <= std::ssize(tail)) {
    return tail.substr(tail.size() - static_cast<std::size_t>(length + kFrameBytes),
                       static_cast<std::size_t>(length));
  }
  Bytes footer(static_cast<std::size_t>(length), '\0');
  IW_TRY(ReadExactly(file, size - kFrameBytes - length, {footer.data(), footer.size()}));
  return footer;
}

// Ranges of untrusted footers must lie between the magic and the footer.
Status CheckRanges(const Input& input) {
  const auto footer = static_cast<std::int64_t>(input.footer->size());
  const auto fits = [&](const FileRange& range) {
    return range.size == 0 || (range.offset >= 4 && range.size > 0 &&
                               range.offset <= input.size - kFrameBytes - footer &&
                               range.size <= input.size - kFrameBytes - footer - range.offset);
  };
  for (const RowGroup& group : input.meta.groups) {
    if (group.rows == 0) continue;  // some writers give its chunks no place
    for (const ColumnChunk& chunk : group.columns) {
      if (!fits(chunk.range()) || !fits(chunk.offset_index) || !fits(chunk.column_index)) {
        return Error(Code::kCorrupt, "a column chunk lies outside the file");
      }
    }
  }
  return {};
}

Status LoadMeta(FileIO& io, Input& input) {
  const DataFile& data_file = input.task->data_file;
  IW_ASSIGN(auto file,
            io.Open(data_file.file_path, data_file.file_size_in_bytes > 0
                                             ? std::optional(data_file.file_size_in_bytes)
                                             : std::nullopt));
  IW_ASSIGN(input.size, file->Size());
  auto footer = ReadFooter(*file, input.size);
  if (!footer && footer.error().code() == Code::kCorrupt) {
    // Foreign writers get sizes wrong: ask the store.
    IW_ASSIGN(file, io.Open(data_file.file_path));
    IW_ASSIGN(input.size, file->Size());
    footer = ReadFooter(*file, input.size);
  }
  if (!footer) return footer.error();
  input.footer = std::make_unique<const Bytes>(std::move(*footer));
  IW_ASSIGN(input.meta, ParseFooter(*input.footer));
  IW_TRY(CheckRanges(input));
  std::int64_t rows = 0;
  for (const RowGroup& group : input.meta.groups) {
    if (__builtin_add_overflow(rows, group.rows, &rows)) {
      return Error(Code::kCorrupt, "its row groups have more rows than can be");
    }
  }
  if (rows != data_file.record_count) {
    return Error(Code::kCorrupt, fmt::format("its manifest entry says {} rows, it has {}",
                                             data_file.record_count, rows));
  }
  return {};
}

bool HasIds(const FileMeta& meta) {
  return std::any_of(meta.leaves.begin(), meta.leaves.end(),
                     [](const Leaf& leaf) { return leaf.nodes.front().id >= 0; });
}

}  // namespace

Result<Input> OpenInput(RunContext& run, FileIO& io, const TableMetadata& metadata,
                        const Layout& layout, const FileTask& task) {
  IW_TRY(run.Check());
  Input input;
  input.task = &task;
  input.name = task.data_file.file_path.text();
  input.columns.resize(layout.columns.size());
  if (task.data_file.file_format != FileFormat::kParquet) {
    DecodeAll(input, "not a Parquet file");
    return input;
  }
  if (task.data_file.key_metadata) {
    return Error(Code::kUnsupported, "read " + input.name + ": the file is encrypted");
  }
  IW_TRY(LoadMeta(io, input).Within("read " + input.name));
  if (!HasIds(input.meta)) {
    DecodeAll(input, "no field ids");
    return input;
  }
  input.columns = PlanColumns(metadata, layout, input);
  DecodeWholeColumns(layout, input);
  return input;
}

void DecodeWholeColumns(const Layout& layout, Input& input) {
  std::vector<const ColumnPlan*> decoded(layout.plan->schema.fields().size(), nullptr);
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnPlan& plan = input.columns[i];
    if (plan.from == ColumnPlan::From::kDecoded) {
      decoded[static_cast<std::size_t>(layout.columns[i].top_level)] = &plan;
    }
  }
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnPlan* with = decoded[static_cast<std::size_t>(layout.columns[i].top_level)];
    ColumnPlan& plan = input.columns[i];
    if (with == nullptr || plan.from == ColumnPlan::From::kDecoded) continue;
    plan.from = ColumnPlan::From::kDecoded;
    plan.expected = Treatment::kDecode;
    plan.reason = with->reason;
  }
}

void DecodeAll(Input& input, std::string reason) {
  input.decode_all = true;
  for (ColumnPlan& plan : input.columns) {
    plan = {.from = ColumnPlan::From::kDecoded, .expected = Treatment::kDecode, .reason = reason};
  }
  input.decode_reason = std::move(reason);
}

TreatmentBytes ExpectedBytes(const Input& input) {
  TreatmentBytes out = {};
  const auto add = [&](Treatment treatment, std::int64_t bytes) {
    out[static_cast<std::size_t>(treatment)] += bytes;
  };
  if (input.decode_all) {
    add(Treatment::kDecode, input.task->data_file.file_size_in_bytes);
    return out;
  }
  std::int64_t all = 0;
  std::int64_t planned = 0;
  for (const RowGroup& group : input.meta.groups) {
    if (group.rows == 0) continue;  // its sizes may be any, see CheckRanges
    for (const ColumnChunk& chunk : group.columns) all += chunk.compressed;
    for (const ColumnPlan& plan : input.columns) {
      if (plan.leaf < 0 || plan.from != ColumnPlan::From::kChunks) continue;
      const ColumnChunk& chunk = group.columns[static_cast<std::size_t>(plan.leaf)];
      const auto dirty =
          static_cast<std::int64_t>(static_cast<double>(chunk.compressed) * input.dirty_share);
      add(Treatment::kFilter, dirty);
      add(plan.expected, chunk.compressed - dirty);
      planned += chunk.compressed;
    }
  }
  const bool decodes =
      std::any_of(input.columns.begin(), input.columns.end(),
                  [](const ColumnPlan& plan) { return plan.from == ColumnPlan::From::kDecoded; });
  // What is not moved is decoded; columns that the table dropped are among it only then.
  if (decodes) add(Treatment::kDecode, all - planned);
  return out;
}

}  // namespace icewright::splice
