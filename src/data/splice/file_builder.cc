#include "data/splice/file_builder.h"

#include <arrow/result.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "data/format_writers.h"
#include "data/splice/thrift.h"
#include "data/splice/values.h"

namespace icewright::splice {
namespace {

constexpr ByteView kMagic = "PAR1";

// BoundaryOrder of parquet.thrift.
int BoundaryOrder(const OutputChunk& chunk) {
  bool ascending = true;
  bool descending = true;
  const PageBounds* last = nullptr;
  for (const PageBounds& page : chunk.bounds) {
    if (page.null_page) continue;
    if (last != nullptr) {
      const int low = CompareValues(chunk.leaf->order, last->min, page.min);
      const int high = CompareValues(chunk.leaf->order, last->max, page.max);
      ascending = ascending && low <= 0 && high <= 0;
      descending = descending && low >= 0 && high >= 0;
    }
    last = &page;
  }
  return ascending ? 1 : descending ? 2 : 0;
}

ColumnIndex IndexOf(const OutputChunk& chunk) {
  ColumnIndex index;
  bool nulls_known = true;
  for (const PageBounds& page : chunk.bounds) {
    index.null_pages.push_back(page.null_page);
    index.min.push_back(page.min);
    index.max.push_back(page.max);
    nulls_known = nulls_known && page.nulls.has_value();
    index.null_counts.push_back(page.nulls.value_or(0));
  }
  if (!nulls_known) index.null_counts.clear();
  index.boundary_order = BoundaryOrder(chunk);
  return index;
}

}  // namespace

Result<std::unique_ptr<FileBuilder>> FileBuilder::Open(std::shared_ptr<const Layout> layout,
                                                       FileIO& io, const Location& location) {
  IW_ASSIGN(auto file, io.Create(location, CreateMode::kNew));
  std::unique_ptr<FileBuilder> out(new FileBuilder(std::move(layout), std::move(file)));
  IW_TRY(out->file_->Append(kMagic));
  return out;
}

void FileBuilder::BeginGroup() {
  groups_.emplace_back();
  chunk_start_ = file_->bytes_written();
}

void FileBuilder::AddColumn(WrittenColumn column) {
  Group& group = groups_.back();
  const std::size_t i = group.columns.size();
  facts_[i].Add(layout_->columns[i].field, column.facts);
  group.columns.push_back({.chunk = std::move(column.chunk), .offset = chunk_start_});
  chunk_start_ = file_->bytes_written();
}

Status FileBuilder::EndGroup(std::int64_t rows) {
  Group& group = groups_.back();
  group.rows = rows;
  rows_ += rows;
  std::int64_t at = group.columns.empty() ? chunk_start_ : group.columns.front().offset;
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    const Column& column = group.columns[i];
    if (column.chunk.rows != rows || column.offset != at) {
      return Error(Code::kInternal,
                   fmt::format("{}: column {} has {} rows at {} instead of {} at {}",
                               file_->location().text(), layout_->columns[i].path,
                               column.chunk.rows, column.offset, rows, at));
    }
    at += column.chunk.compressed;
  }
  if (at != file_->bytes_written()) {
    return Error(Code::kInternal, file_->location().text() + ": pages do not add up to the file");
  }
  return WriteBlooms();
}

// Behind each row group, where the format allows them, so that few are in memory.
Status FileBuilder::WriteBlooms() {
  for (Column& column : groups_.back().columns) {
    if (column.chunk.bloom.empty()) continue;
    column.bloom = {.offset = file_->bytes_written(), .size = std::ssize(column.chunk.bloom)};
    IW_TRY(file_->Append(column.chunk.bloom));
    column.chunk.bloom = Bytes();
  }
  return {};
}

// Appends scratch_.
Status FileBuilder::Append(FileRange& range) {
  range = {.offset = file_->bytes_written(), .size = std::ssize(scratch_)};
  return file_->Append(scratch_);
}

Status FileBuilder::WriteColumnIndexes() {
  for (Group& group : groups_) {
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      Column& column = group.columns[i];
      if (!layout_->columns[i].settings.statistics || !column.chunk.indexable()) continue;
      scratch_.clear();
      WriteColumnIndex(scratch_, IndexOf(column.chunk));
      IW_TRY(Append(column.column_index));
    }
  }
  return {};
}

Status FileBuilder::WriteIndexes(RunContext& run) {
  IW_TRY(run.Check());
  IW_TRY(WriteColumnIndexes());
  for (Group& group : groups_) {
    for (Column& column : group.columns) {
      if (!column.chunk.row_aligned || column.chunk.offsets.pages.empty()) continue;
      OffsetIndex index = column.chunk.offsets;
      for (PageLocation& page : index.pages) page.offset += column.offset;
      scratch_.clear();
      WriteOffsetIndex(scratch_, index);
      IW_TRY(Append(column.offset_index));
    }
  }
  return {};
}

void FileBuilder::WriteChunk(ThriftWriter& w, const Column& column, const OutputColumn& out) const {
  const OutputChunk& chunk = column.chunk;
  w.Begin();
  w.I64(2, 0);  // file_offset is deprecated
  w.BeginField(3);
  w.I32(1, static_cast<int>(out.leaf.type));
  std::vector<Encoding> encodings = {Encoding::kRle};  // of levels
  for (const auto& [key, pages] : chunk.page_counts) {
    if (std::find(encodings.begin(), encodings.end(), key.second) == encodings.end()) {
      encodings.push_back(key.second);
    }
  }
  w.List(2, Wire::kI32, encodings.size());
  for (const Encoding encoding : encodings) w.Element(static_cast<std::int64_t>(encoding));
  w.List(3, Wire::kBinary, out.leaf.path.size());
  for (const ByteView part : out.leaf.path) w.Element(part);
  w.I32(4, NumberOf(chunk.codec));
  w.I64(5, chunk.values);
  w.I64(6, chunk.uncompressed);
  w.I64(7, chunk.compressed);
  w.I64(9, column.offset + chunk.data_offset);
  if (chunk.has_dictionary) w.I64(11, column.offset);
  chunk.statistics.Write(w, 12);
  w.List(13, Wire::kStruct, chunk.page_counts.size());
  for (const auto& [key, pages] : chunk.page_counts) {
    w.Begin();
    w.I32(1, static_cast<int>(key.first));
    w.I32(2, static_cast<int>(key.second));
    w.I32(3, pages);
    w.End();
  }
  if (column.bloom.size > 0) {
    w.I64(14, column.bloom.offset);
    w.I32(15, column.bloom.size);
  }
  chunk.sizes.Write(w, 16);
  w.End();
  if (column.offset_index.size > 0) {
    w.I64(4, column.offset_index.offset);
    w.I32(5, column.offset_index.size);
  }
  if (column.column_index.size > 0) {
    w.I64(6, column.column_index.offset);
    w.I32(7, column.column_index.size);
  }
  w.End();
}

Bytes FileBuilder::Footer() const {
  constexpr int kVersion = 2;
  Bytes out;
  ThriftWriter w(out);
  w.Begin();
  w.I32(1, kVersion);
  w.Raw(2, Wire::kList, layout_->meta.schema);
  w.I64(3, rows_);
  w.List(4, Wire::kStruct, groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    std::int64_t compressed = 0;
    std::int64_t uncompressed = 0;
    w.Begin();
    w.List(1, Wire::kStruct, group.columns.size());
    for (std::size_t i = 0; i < group.columns.size(); ++i) {
      WriteChunk(w, group.columns[i], layout_->columns[i]);
      compressed += group.columns[i].chunk.compressed;
      uncompressed += group.columns[i].chunk.uncompressed;
    }
    w.I64(2, uncompressed);
    w.I64(3, group.rows);
    w.I64(5, group.columns.front().offset);
    w.I64(6, compressed);
    if (g <= std::numeric_limits<std::int16_t>::max()) w.I16(7, static_cast<std::int64_t>(g));
    w.End();
  }
  w.Raw(5, Wire::kList, layout_->meta.key_values);
  w.Binary(6, layout_->plan->created_by);
  w.Raw(7, Wire::kList, layout_->meta.column_orders);
  w.End();
  return out;
}

DataFile FileBuilder::Describe() const {
  DataFile file = DescribeFile(*layout_->plan, file_->location(), rows_, file_->bytes_written());
  for (const Group& group : groups_) file.split_offsets.push_back(group.columns.front().offset);
  std::vector<std::size_t> by_id(layout_->columns.size());
  for (std::size_t i = 0; i < by_id.size(); ++i) by_id[i] = i;
  std::sort(by_id.begin(), by_id.end(), [&](std::size_t a, std::size_t b) {
    return layout_->columns[a].field.id < layout_->columns[b].field.id;
  });
  for (const std::size_t i : by_id) {
    const OutputColumn& column = layout_->columns[i];
    if (!column.mode.counts()) continue;
    std::int64_t size = 0;
    for (const Group& group : groups_) size += group.columns[i].chunk.compressed;
    file.column_sizes.emplace_back(column.field.id, size);
    if (column.in_metrics) facts_[i].Finish(column.field, column.mode, file);
  }
  return file;
}

Result<DataFile> FileBuilder::Close(RunContext& run) {
  IW_TRY(WriteIndexes(run));
  const Bytes footer = Footer();
  IW_TRY(file_->Append(footer));
  Bytes end;
  AppendLittle(end, static_cast<std::uint32_t>(footer.size()));
  IW_TRY(file_->Append(end.append(kMagic)));
  DataFile described = Describe();
  IW_TRY(file_->Close());
  return described;
}

}  // namespace icewright::splice
