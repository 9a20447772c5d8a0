#include "data/splice/generated.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "data/splice/delta.h"
#include "data/splice/hybrid.h"
#include "table/literal.h"

namespace icewright::splice {
namespace {

// Adds pages to a chunk.
class Builder {
 public:
  explicit Builder(const Leaf& leaf) : leaf_(leaf), out_(std::make_unique<GeneratedChunk>()) {
    out_->chunk.type = leaf.type;
    out_->chunk.encodings = 1U << static_cast<int>(Encoding::kRle);
  }

  void Dictionary(ByteView body) {
    PageHeader header;
    header.type = PageType::kDictionary;
    header.values = 1;
    Put(header, body);
  }

  // `bounds`: of the values; unset if all are null.
  void Data(Encoding encoding, std::int64_t rows,
            const std::optional<std::pair<Bytes, Bytes>>& bounds, ByteView values) {
    PageBounds& page = out_->bounds.emplace_back();
    page = {.known = true, .null_page = !bounds, .min = {}, .max = {}, .nulls = bounds ? 0 : rows};
    if (bounds) std::tie(page.min, page.max) = *bounds;
    Scratch body;
    if (leaf_.max_definition > 0) {
      body.Append(ByteView("\0\0\0\0", 4));
      AppendRun(body, static_cast<std::uint32_t>(rows), bounds ? 1 : 0, 1);
      const auto length = static_cast<std::uint32_t>(body.size() - 4);
      std::memcpy(body.data(), &length, 4);
    }
    body.Append(values);
    if (out_->chunk.data_offset == 0) out_->chunk.data_offset = std::ssize(out_->bytes);
    PageHeader header;
    header.values = static_cast<std::int32_t>(rows);
    header.encoding = encoding;
    Put(header, body.view());
    out_->chunk.values += rows;
  }

  std::unique_ptr<GeneratedChunk> Finish(std::optional<std::pair<Bytes, Bytes>> bounds) {
    ColumnChunk& chunk = out_->chunk;
    chunk.compressed = std::ssize(out_->bytes);
    chunk.uncompressed = chunk.compressed;
    chunk.statistics.null_count = bounds ? 0 : chunk.values;
    if (bounds) {
      std::tie(out_->min, out_->max) = std::move(*bounds);
      chunk.statistics.min = out_->min;
      chunk.statistics.max = out_->max;
      chunk.statistics.min_exact = chunk.statistics.max_exact = true;
      chunk.statistics.exact_known = true;
    }
    out_->bytes.append(kSlack, '\0');
    return std::move(out_);
  }

 private:
  void Put(PageHeader header, ByteView body) {
    header.uncompressed = header.compressed = static_cast<std::int32_t>(body.size());
    WritePageHeader(out_->bytes, header);
    out_->bytes.append(body);
    out_->chunk.encodings |= 1U << static_cast<int>(header.encoding);
  }

  const Leaf& leaf_;
  std::unique_ptr<GeneratedChunk> out_;
};

Bytes BigEndian(Int128 value, int width) {
  Bytes out(static_cast<std::size_t>(width), '\0');
  for (std::size_t i = out.size(); i-- > 0; value >>= 8) {
    out[i] = static_cast<char>(value & 0xFF);
  }
  return out;
}

std::pair<Bytes, Bytes> Little(std::int64_t low, std::int64_t high) {
  std::pair<Bytes, Bytes> out;
  AppendLittle(out.first, low);
  AppendLittle(out.second, high);
  return out;
}

}  // namespace

Bytes PlainValue(const Field& field, const Leaf& leaf, const Literal& value) {
  Bytes out;
  if (const auto* unscaled = std::get_if<Int128>(&value)) {
    if (leaf.type == Physical::kInt32) {
      AppendLittle(out, static_cast<std::int32_t>(*unscaled));
    } else if (leaf.type == Physical::kInt64) {
      AppendLittle(out, static_cast<std::int64_t>(*unscaled));
    } else {
      out = BigEndian(*unscaled, leaf.width);
    }
    return out;
  }
  // Values may be narrower than a type that was promoted since.
  const auto* narrow = std::get_if<std::int32_t>(&value);
  if (narrow != nullptr && leaf.type == Physical::kInt64) {
    AppendLittle(out, std::int64_t{*narrow});
    return out;
  }
  const auto* single = std::get_if<float>(&value);
  if (single != nullptr && leaf.type == Physical::kDouble) {
    AppendLittle(out, double{*single});
    return out;
  }
  return ToBytes(field.type, value);
}

std::unique_ptr<GeneratedChunk> MakeNulls(const Leaf& leaf, std::int64_t rows,
                                          std::int64_t page_rows) {
  Builder builder(leaf);
  for (std::int64_t done = 0; done < rows; done += page_rows) {
    builder.Data(Encoding::kPlain, std::min(page_rows, rows - done), {}, {});
  }
  return builder.Finish({});
}

std::unique_ptr<GeneratedChunk> MakeConstant(const Field& field, const Leaf& leaf,
                                             const Literal& value, std::int64_t rows,
                                             std::int64_t page_rows) {
  const Bytes plain = PlainValue(field, leaf, value);
  Bytes entry;
  if (leaf.type == Physical::kByteArray) {
    AppendLittle(entry, static_cast<std::uint32_t>(plain.size()));
  }
  entry += plain;
  Builder builder(leaf);
  builder.Dictionary(entry);
  for (std::int64_t done = 0; done < rows; done += page_rows) {
    const std::int64_t count = std::min(page_rows, rows - done);
    Scratch indices;
    indices.Push(1);
    AppendRun(indices, static_cast<std::uint32_t>(count), 0, 1);
    builder.Data(Encoding::kRleDictionary, count, std::pair(plain, plain), indices.view());
  }
  return builder.Finish(std::pair(plain, plain));
}

std::unique_ptr<GeneratedChunk> MakeSequence(
    const Leaf& leaf, const std::vector<std::pair<std::int64_t, std::int64_t>>& runs,
    std::int64_t page_rows) {
  Builder builder(leaf);
  std::vector<std::int64_t> page;
  Bytes values;
  const auto flush = [&] {
    if (page.empty()) return;
    values.clear();
    EncodeDelta(page, values);
    const auto [low, high] = std::minmax_element(page.begin(), page.end());
    builder.Data(Encoding::kDeltaBinaryPacked, std::ssize(page), Little(*low, *high), values);
    page.clear();
  };
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  for (const auto& [first, count] : runs) {
    if (count == 0) continue;
    low = std::min(low, first);
    high = std::max(high, first + count - 1);
    for (std::int64_t i = 0; i < count; ++i) {
      page.push_back(first + i);
      if (std::ssize(page) == page_rows) flush();
    }
  }
  flush();
  return builder.Finish(Little(low, high));
}

}  // namespace icewright::splice
