#include "data/array_filter.h"

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <cstring>
#include <limits>

#include "data/arrow_bridge.h"

namespace icewright {
namespace {

using DataPtr = std::shared_ptr<arrow::ArrayData>;
using BufferPtr = std::shared_ptr<arrow::Buffer>;

std::int64_t LengthOf(std::span<const RowRun> runs) {
  std::int64_t length = 0;
  for (const RowRun& run : runs) length += run.length;
  return length;
}

/// Copies bits [offset + start, + length) of each run, one after the other.
Result<BufferPtr> KeepBits(const std::uint8_t* bits, std::int64_t offset,
                           std::span<const RowRun> runs, std::int64_t length,
                           arrow::MemoryPool* pool) {
  IW_ASSIGN(BufferPtr out, FromArrow(arrow::AllocateBitmap(length, pool)));
  std::uint8_t* target = out->mutable_data();
  if (length > 0) target[arrow::bit_util::BytesForBits(length) - 1] = 0;
  std::int64_t at = 0;
  for (const RowRun& run : runs) {
    if (run.length < 16) {  // not worth the set-up of a bulk copy
      for (std::int64_t i = 0; i < run.length; ++i) {
        arrow::bit_util::SetBitTo(target, at + i,
                                  arrow::bit_util::GetBit(bits, offset + run.start + i));
      }
    } else {
      arrow::internal::CopyBitmap(bits, offset + run.start, run.length, target, at);
    }
    at += run.length;
  }
  return out;
}

Result<BufferPtr> KeepFixed(const std::uint8_t* values, std::int64_t width,
                            std::span<const RowRun> runs, std::int64_t length,
                            arrow::MemoryPool* pool) {
  IW_ASSIGN(BufferPtr out, FromArrow(arrow::AllocateBuffer(length * width, pool)));
  std::uint8_t* target = out->mutable_data();
  for (const RowRun& run : runs) {
    const auto bytes = static_cast<std::size_t>(run.length * width);
    if (bytes > 0) std::memcpy(target, values + run.start * width, bytes);
    target += bytes;
  }
  return out;
}

/// New offsets of kept lists or strings, and the runs of what they hold.
struct KeptOffsets {
  BufferPtr offsets;
  std::vector<RowRun> inner;
  std::int64_t inner_length = 0;
};

Result<KeptOffsets> KeepOffsets(const std::int32_t* offsets, std::span<const RowRun> runs,
                                std::int64_t length, arrow::MemoryPool* pool) {
  KeptOffsets out;
  IW_ASSIGN(out.offsets,
            FromArrow(arrow::AllocateBuffer(
                (length + 1) * static_cast<std::int64_t>(sizeof(std::int32_t)), pool)));
  auto* target = out.offsets->mutable_data_as<std::int32_t>();
  *target++ = 0;
  std::int32_t total = 0;
  out.inner.reserve(runs.size());
  for (const RowRun& run : runs) {
    if (run.length == 0) continue;
    const std::int32_t first = offsets[run.start];
    const std::int32_t shift = total - first;
    for (std::int64_t i = 1; i <= run.length; ++i) *target++ = offsets[run.start + i] + shift;
    const std::int32_t held = offsets[run.start + run.length] - first;
    if (held > 0) out.inner.push_back({first, held});
    total += held;
  }
  out.inner_length = total;
  return out;
}

std::vector<RowRun> Shifted(std::span<const RowRun> runs, std::int64_t offset) {
  std::vector<RowRun> out(runs.begin(), runs.end());
  for (RowRun& run : out) run.start += offset;
  return out;
}

Status KeepValues(const arrow::ArrayData& in, std::span<const RowRun> runs, arrow::ArrayData& out,
                  arrow::MemoryPool* pool) {
  switch (in.type->id()) {
    case arrow::Type::NA:
      return {};
    case arrow::Type::BOOL: {
      IW_ASSIGN(out.buffers[1], KeepBits(in.buffers[1]->data(), in.offset, runs, out.length, pool));
      return {};
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      IW_ASSIGN(KeptOffsets kept,
                KeepOffsets(in.GetValues<std::int32_t>(1), runs, out.length, pool));
      const std::uint8_t* bytes = in.buffers[2] == nullptr ? nullptr : in.buffers[2]->data();
      out.buffers[1] = std::move(kept.offsets);
      IW_ASSIGN(out.buffers[2], KeepFixed(bytes, 1, kept.inner, kept.inner_length, pool));
      return {};
    }
    case arrow::Type::LIST:
    case arrow::Type::MAP: {
      IW_ASSIGN(KeptOffsets kept,
                KeepOffsets(in.GetValues<std::int32_t>(1), runs, out.length, pool));
      out.buffers[1] = std::move(kept.offsets);
      IW_ASSIGN(DataPtr child, KeepRuns(*in.child_data[0], kept.inner, pool));
      out.child_data.push_back(std::move(child));
      return {};
    }
    case arrow::Type::STRUCT: {
      const std::vector<RowRun> inner = Shifted(runs, in.offset);
      for (const DataPtr& field : in.child_data) {
        IW_ASSIGN(DataPtr child, KeepRuns(*field, inner, pool));
        out.child_data.push_back(std::move(child));
      }
      return {};
    }
    default: {
      const int bits = in.type->bit_width();
      if (bits <= 0 || bits % 8 != 0) {
        return Error(Code::kUnsupported, "rows of type " + in.type->ToString());
      }
      const std::int64_t width = bits / 8;
      const std::uint8_t* values = in.buffers[1]->data() + in.offset * width;
      IW_ASSIGN(out.buffers[1], KeepFixed(values, width, runs, out.length, pool));
      return {};
    }
  }
}

}  // namespace

void Selection::Drop(std::int64_t row) {
  if (keep_.empty()) keep_.assign(static_cast<std::size_t>(rows_), 1);
  char& keep = keep_[static_cast<std::size_t>(row)];
  kept_ -= keep;
  keep = 0;
}

void Selection::DropAll() {
  keep_.assign(static_cast<std::size_t>(rows_), 0);
  kept_ = 0;
}

std::vector<RowRun> Selection::Runs() const {
  if (kept_ == 0) return {};
  if (keep_.empty()) return {{0, rows_}};
  std::vector<RowRun> runs;
  const char* const begin = keep_.data();
  const char* const end = begin + keep_.size();
  for (const char* p = begin; p != end;) {
    p = static_cast<const char*>(std::memchr(p, 1, static_cast<std::size_t>(end - p)));
    if (p == nullptr) break;
    const auto* stop =
        static_cast<const char*>(std::memchr(p, 0, static_cast<std::size_t>(end - p)));
    if (stop == nullptr) stop = end;
    runs.push_back({p - begin, stop - p});
    p = stop;
  }
  return runs;
}

Result<DataPtr> KeepRuns(const arrow::ArrayData& in, std::span<const RowRun> runs,
                         arrow::MemoryPool* pool) {
  const std::int64_t length = LengthOf(runs);
  auto out = std::make_shared<arrow::ArrayData>(in.type, length, arrow::kUnknownNullCount);
  out->buffers.resize(in.buffers.size());
  if (in.buffers[0] != nullptr && in.GetNullCount() != 0) {
    IW_ASSIGN(out->buffers[0], KeepBits(in.buffers[0]->data(), in.offset, runs, length, pool));
  } else if (in.type->id() != arrow::Type::NA) {
    out->null_count = 0;
  } else {
    out->null_count = length;
  }
  IW_TRY(KeepValues(in, runs, *out, pool));
  return out;
}

}  // namespace icewright
