// ChunkWriter: pages that are rewritten, and joined with their neighbours.

#include <algorithm>

#include "data/splice/chunk_writer.h"
#include "data/splice/hybrid.h"

namespace icewright::splice {
namespace {

constexpr std::int64_t kMostJoinedValues = 1 << 20;  // of rows with many values each

}  // namespace

void ChunkWriter::BeginPending(const Page& page, bool plain) {
  Pending& w = pending_;
  w.active = w.bounds_known = true;
  w.has_bounds = w.crc = false;
  w.plain = plain;
  w.type = page.header.type;
  w.values = w.defined = w.rows = 0;
  w.repetition.clear();
  w.definition.clear();
  w.body.Clear();
  if (!plain) w.body.Push(static_cast<std::uint8_t>(union_width_));
}

void ChunkWriter::PendBounds(const PageBounds& bounds) {
  Pending& w = pending_;
  if (!bounds.known || (!bounds.null_page && out_.leaf->order == Order::kUndefined)) {
    w.bounds_known = false;
    return;
  }
  if (bounds.null_page) return;
  const Order order = out_.leaf->order;
  if (!w.has_bounds || CompareValues(order, bounds.min, w.min) < 0) w.min = bounds.min;
  if (!w.has_bounds || CompareValues(order, bounds.max, w.max) > 0) w.max = bounds.max;
  w.has_bounds = true;
}

Status ChunkWriter::Pend(Source& source, std::size_t i, Take take) {
  const Page& page = source.pages[i];
  Pending& w = pending_;
  const bool plain = take != Take::kIndices;
  if (w.active &&
      (w.plain != plain || w.type != page.header.type || w.rows + page.rows > settings_.page_rows ||
       w.values > kMostJoinedValues || w.body.size() > settings_.page_bytes)) {
    IW_TRY(FlushPending());
  }
  if (!w.active) BeginPending(page, plain);
  IW_ASSIGN(const SplitPage split, Split(source, page, page_));
  source.values_seen += page.header.values;
  source.defined_seen += split.defined;
  w.crc = w.crc || page.header.crc.has_value();
  PendBounds(source.bounds[i]);
  const bool dirty =
      source.deleted != nullptr && Touches(*source.deleted, page.first_row, page.rows);
  if (!dirty) {
    IW_TRY(PendWhole(source, page, split));
    return split.defined > 0 ? TakeValues(source, split.values, split.defined, take) : Status{};
  }
  IW_ASSIGN(const std::uint32_t kept, PendKept(source, page, split));
  // What follows takes keep_ to be as long.
  if (keep_.size() != split.defined) return source.Corrupt("the levels of a page are malformed");
  return kept > 0 ? TakeKept(source, split.values, split.defined, take) : Status{};
}

bool ChunkWriter::DecodeLevels(int max, ByteView encoded, std::uint32_t count,
                               std::vector<std::uint8_t>& out) {
  std::vector<std::uint32_t>& numbers = page_.numbers;
  numbers.resize(std::max<std::size_t>(numbers.size(), count));
  const auto limit = static_cast<std::uint32_t>(max);
  if (!DecodeHybrid(encoded, BitsFor(limit), count, numbers.data())) return false;
  const std::size_t at = out.size();
  out.resize(at + count);
  std::uint32_t highest = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    highest = std::max(highest, numbers[i]);
    out[at + i] = static_cast<std::uint8_t>(numbers[i]);
  }
  return highest <= limit;
}

Status ChunkWriter::PendWhole(const Source& source, const Page& page, const SplitPage& split) {
  Pending& w = pending_;
  const Leaf& leaf = *source.leaf;
  const auto count = static_cast<std::uint32_t>(page.header.values);
  if (leaf.max_repetition > 0 &&
      !DecodeLevels(leaf.max_repetition, split.repetition, count, w.repetition)) {
    return source.Corrupt("repetition levels are malformed");
  }
  const auto max = static_cast<std::uint8_t>(out_.leaf->max_definition);
  if (max > 0 && (split.defined != count || !w.definition.empty())) {
    w.definition.resize(static_cast<std::size_t>(w.values), max);
    if (source.adds_level() || split.defined == count) {
      w.definition.resize(w.definition.size() + count, max);
    } else if (!DecodeLevels(leaf.max_definition, split.definition, count, w.definition)) {
      return source.Corrupt("definition levels are malformed");
    }
  }
  w.values += count;
  w.defined += split.defined;
  w.rows += page.rows;
  return {};
}

// Adds the levels of the rows that stay and sets keep_; returns how many values that are not null
// stay.
Result<std::uint32_t> ChunkWriter::PendKept(Source& source, const Page& page,
                                            const SplitPage& split) {
  Pending& w = pending_;
  const Leaf& leaf = *source.leaf;
  const auto count = static_cast<std::uint32_t>(page.header.values);
  repetition_.clear();
  definition_.clear();
  if ((leaf.max_repetition > 0 &&
       !DecodeLevels(leaf.max_repetition, split.repetition, count, repetition_)) ||
      (leaf.max_definition > 0 &&
       !DecodeLevels(leaf.max_definition, split.definition, count, definition_))) {
    return source.Corrupt("the levels of a page are malformed");
  }
  const auto max = static_cast<std::uint8_t>(out_.leaf->max_definition);
  if (max > 0) w.definition.resize(static_cast<std::size_t>(w.values), max);
  keep_.clear();
  auto range = source.deleted->begin();
  std::int64_t row = page.first_row - 1;
  std::uint32_t kept = 0;
  bool stays = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leaf.max_repetition == 0 || repetition_[i] == 0) {
      ++row;
      while (range != source.deleted->end() && range->second <= row) ++range;
      stays = range == source.deleted->end() || row < range->first;
      w.rows += stays ? 1 : 0;
    }
    const bool defined = leaf.max_definition == 0 || definition_[i] == leaf.max_definition;
    if (defined) keep_.push_back(stays ? 1 : 0);
    if (!stays) continue;
    kept += defined ? 1 : 0;
    if (leaf.max_repetition > 0) w.repetition.push_back(repetition_[i]);
    if (max > 0) w.definition.push_back(leaf.max_definition == 0 ? max : definition_[i]);
    ++w.values;
    ++source.kept_values;
    source.kept_nulls += defined ? 0 : 1;
  }
  w.defined += kept;
  return kept;
}

Status ChunkWriter::DecodeIndices(const Source& source, ByteView values, std::uint32_t count) {
  if (values.empty()) return source.Corrupt("an index page without bit width");
  const int width = static_cast<std::uint8_t>(values[0]);
  indices_.resize(std::max<std::size_t>(indices_.size(), count));
  if (width > 32 || !DecodeHybrid(values.substr(1), width, count, indices_.data())) {
    return source.Corrupt("dictionary indices are malformed");
  }
  const std::uint32_t highest =
      count == 0 ? 0 : *std::max_element(indices_.begin(), indices_.begin() + count);
  if (count > 0 && highest >= source.dictionary_size()) {
    return source.Corrupt("a dictionary index is out of range");
  }
  return {};
}

// Appends the values of a page in their new form.
Status ChunkWriter::TakeValues(const Source& source, ByteView values, std::uint32_t count,
                               Take take) {
  if (take == Take::kPlain) {
    // A byte too few or too many would shift the values of the pages that follow.
    if (!PlainOffsets(values, count, source.leaf->width, indices_) ||
        indices_[count] != values.size()) {
      return source.Corrupt("the values of a page are malformed");
    }
    if (source.conversion == Conversion::kNone) {
      pending_.body.Append(values);
    } else if (!ConvertValues(source.conversion, source.leaf->width, source.out_leaf->width, values,
                              pending_.body)) {
      return source.Corrupt("the values of a page are malformed");
    }
    return {};
  }
  if (take == Take::kGather) {
    IW_TRY(DecodeIndices(source, values, count));
    return Gather(source, count);
  }
  if (values.empty()) return source.Corrupt("an index page without bit width");
  const int width = static_cast<std::uint8_t>(values[0]);
  if (width > 32 || !MapIndices(values.substr(1), width, count, source.map, union_width_, indices_,
                                pending_.body)) {
    return source.Corrupt("dictionary indices are malformed");
  }
  return {};
}

// As TakeValues, for those of the `count` values that keep_ names.
Status ChunkWriter::TakeKept(const Source& source, ByteView values, std::uint32_t count,
                             Take take) {
  if (take == Take::kPlain) return KeepPlain(source, values, count);
  IW_TRY(DecodeIndices(source, values, count));
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (keep_[i] != 0) indices_[kept++] = indices_[i];
  }
  if (take == Take::kGather) return Gather(source, kept);
  for (std::uint32_t i = 0; i < kept; ++i) indices_[i] = source.map[indices_[i]];
  EncodeIndices(indices_.data(), kept, union_width_, pending_.body);
  return {};
}

Status ChunkWriter::KeepPlain(const Source& source, ByteView values, std::uint32_t count) {
  std::vector<std::uint32_t>& offsets = indices_;
  if (!PlainOffsets(values, count, source.leaf->width, offsets)) {
    return source.Corrupt("the values of a page are malformed");
  }
  Scratch& to = source.conversion == Conversion::kNone ? pending_.body : converted_;
  if (source.conversion != Conversion::kNone) to.Clear();
  for (std::uint32_t i = 0; i < count;) {
    if (keep_[i] == 0) {
      ++i;
      continue;
    }
    std::uint32_t end = i;
    while (end < count && keep_[end] != 0) ++end;
    to.Append(values.substr(offsets[i], offsets[end] - offsets[i]));
    i = end;
  }
  if (source.conversion == Conversion::kNone) return {};
  if (!ConvertValues(source.conversion, source.leaf->width, source.out_leaf->width, to.view(),
                     pending_.body)) {
    return source.Corrupt("the values of a page are malformed");
  }
  return {};
}

// Appends the dictionary values of indices_. Precondition: indices are in range.
Status ChunkWriter::Gather(const Source& source, std::uint32_t count) {
  IW_TRY(LoadDictionary(source));
  const char* const dictionary = dictionary_.data();
  const auto width = static_cast<std::size_t>(source.out_leaf->width);
  constexpr auto kMost = static_cast<std::size_t>(kMaxPageBytes);
  const auto too_big = [&] {
    return Error(Code::kUnsupported, *source.name + ": a page of many large values");
  };
  if (width > 0) {
    if (count * width > kMost) return too_big();
    char* const to = pending_.body.Grow(count * width);
    const auto gather = [&](std::size_t size) {
      for (std::uint32_t i = 0; i < count; ++i) {
        std::memcpy(to + i * size, dictionary + indices_[i] * size, size);
      }
    };
    if (width == 8) {
      gather(8);
    } else if (width == 4) {
      gather(4);
    } else {
      gather(width);
    }
    return {};
  }
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    total += dictionary_offsets_[indices_[i] + 1] - dictionary_offsets_[indices_[i]];
  }
  if (total > kMost) return too_big();
  char* to = pending_.body.Grow(total);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t from = dictionary_offsets_[indices_[i]];
    const std::size_t size = dictionary_offsets_[indices_[i] + 1] - from;
    constexpr std::size_t kWords = 32;  // both sides have slack
    std::memcpy(to, dictionary + from, size <= kWords ? kWords : size);
    to += size;
  }
  return {};
}

Status ChunkWriter::FlushPending() {
  Pending& w = pending_;
  if (!w.active) return {};
  w.active = false;
  if (w.values == 0) return {};  // every row was deleted
  PageHeader header;
  header.type = w.type;
  header.values = static_cast<std::int32_t>(w.values);
  header.nulls = static_cast<std::int32_t>(w.values - w.defined);
  header.rows = static_cast<std::int32_t>(w.rows);
  header.encoding = w.plain ? Encoding::kPlain : Encoding::kRleDictionary;
  if (w.crc) header.crc = 0;
  levels_.Clear();
  const auto write_levels = [&](int max, const std::vector<std::uint8_t>& levels,
                                std::int32_t& size) {
    if (max == 0) return;
    const std::size_t at = levels_.size();
    const std::size_t prefix = w.type == PageType::kData ? 4 : 0;
    levels_.Append(ByteView("\0\0\0\0", prefix));
    const int width = BitsFor(static_cast<std::uint32_t>(max));
    if (levels.empty()) {
      AppendRun(levels_, static_cast<std::uint32_t>(w.values), static_cast<std::uint32_t>(max),
                width);
    } else {
      EncodeLevels(levels.data(), levels.size(), width, levels_);
    }
    const auto length = static_cast<std::uint32_t>(levels_.size() - at - prefix);
    std::memcpy(levels_.data() + at, &length, prefix);
    size = static_cast<std::int32_t>(length);
  };
  write_levels(out_.leaf->max_repetition, w.repetition, header.repetition_bytes);
  write_levels(out_.leaf->max_definition, w.definition, header.definition_bytes);
  PageBounds bounds;
  bounds.nulls = w.values - w.defined;
  bounds.null_page = w.defined == 0;
  bounds.known = bounds.null_page || (w.bounds_known && w.has_bounds);
  if (bounds.known && !bounds.null_page) {
    bounds.min = w.min;
    bounds.max = w.max;
  }
  return EmitPage(header, levels_.view(), w.body.view(), w.rows, std::move(bounds));
}

}  // namespace icewright::splice
