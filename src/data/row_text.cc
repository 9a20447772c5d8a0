#include "data/row_text.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/bytes.h"
#include "table/literal.h"

namespace icewright {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

void AppendInteger(std::int64_t value, std::string& out) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out.append(text, end);
}

/// Most significant digit first.
template <typename T>
void AppendBits(T bits, std::string& out) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 4; shift >= 0; shift -= 4) {
    out += kDigits[(bits >> shift) & 15];
  }
}

void AppendHex(ByteView bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

void AppendUuid(ByteView bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    AppendHex(bytes.substr(i, 1), out);
  }
}

/// Order of Java's strings, by UTF-16 units: characters above U+FFFF come before U+E000 to U+FFFF.
bool JavaLess(std::string_view a, std::string_view b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xf0) return byte - 2;
    return byte >= 0xee ? byte + 16 : static_cast<int>(byte);
  };
  return rank(*x) < rank(*y);
}

}  // namespace

ColumnText::ColumnText(const Type& type, const arrow::ArrayData& array)
    : type_(type),
      offset_(array.offset),
      validity_(array.buffers[0] == nullptr ? nullptr : array.buffers[0]->data()),
      values_(array.buffers.size() < 2 || array.buffers[1] == nullptr ? nullptr
                                                                      : array.buffers[1]->data()),
      bytes_(array.buffers.size() < 3 || array.buffers[2] == nullptr ? nullptr
                                                                     : array.buffers[2]->data()) {
  const bool is_map = type.id() == TypeId::kMap;
  const arrow::ArrayData& parent = is_map ? *array.child_data[0] : array;
  for (std::size_t i = 0; i < type.fields().size(); ++i) {
    children_.emplace_back(type.fields()[i].type, *parent.child_data[i]);
    if (is_map) children_.back().offset_ += parent.offset;
  }
}

void ColumnText::Append(std::int64_t row, std::string& out) const {
  const std::int64_t at = offset_ + row;
  const bool null = type_.id() == TypeId::kUnknown ||
                    (validity_ != nullptr && !arrow::bit_util::GetBit(validity_, at));
  if (null) {
    out += '~';
  } else {
    AppendValue(at, out);
  }
}

void ColumnText::AppendValue(std::int64_t at, std::string& out) const {
  const auto* const raw = reinterpret_cast<const char*>(values_);
  switch (type_.id()) {
    case TypeId::kUnknown:
    case TypeId::kVariant:
      out += '~';
      return;
    case TypeId::kBoolean:
      out += arrow::bit_util::GetBit(values_, at) ? 't' : 'f';
      return;
    case TypeId::kInt:
    case TypeId::kDate:
      return AppendInteger(LoadLittle<std::int32_t>(raw + at * 4), out);
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return AppendInteger(LoadLittle<std::int64_t>(raw + at * 8), out);
    case TypeId::kFloat: {
      const auto value = LoadLittle<float>(raw + at * 4);
      return AppendBits(std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value), out);
    }
    case TypeId::kDouble: {
      const auto value = LoadLittle<double>(raw + at * 8);
      return AppendBits(
          std::isnan(value) ? 0x7ff8000000000000ULL : std::bit_cast<std::uint64_t>(value), out);
    }
    case TypeId::kDecimal: {
      Int128 value = 0;
      std::memcpy(&value, raw + at * 16, 16);
      out += DecimalText(value, type_.scale());
      return;
    }
    case TypeId::kUuid:
      return AppendUuid(ByteView(raw + at * 16, 16), out);
    case TypeId::kFixed: {
      const int width = type_.length();
      return AppendHex(ByteView(raw + at * width, static_cast<std::size_t>(width)), out);
    }
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return AppendBytes(at, out);
    case TypeId::kStruct:
      return AppendStruct(at, out);
    case TypeId::kList:
      return AppendList(at, out);
    case TypeId::kMap:
      return AppendMap(at, out);
  }
}

std::pair<std::int32_t, std::int32_t> ColumnText::RangeAt(std::int64_t at) const {
  const auto* const raw = reinterpret_cast<const char*>(values_) + at * 4;
  return {LoadLittle<std::int32_t>(raw), LoadLittle<std::int32_t>(raw + 4)};
}

void ColumnText::AppendBytes(std::int64_t at, std::string& out) const {
  const auto [first, last] = RangeAt(at);
  const ByteView value(reinterpret_cast<const char*>(bytes_) + first,
                       static_cast<std::size_t>(last - first));
  if (type_.id() != TypeId::kString) return AppendHex(value, out);
  AppendInteger(last - first, out);
  out += ':';
  out += value;
}

void ColumnText::AppendStruct(std::int64_t at, std::string& out) const {
  out += '{';
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (i > 0) out += ',';
    children_[i].Append(at, out);
  }
  out += '}';
}

void ColumnText::AppendList(std::int64_t at, std::string& out) const {
  const auto [first, last] = RangeAt(at);
  out += '[';
  for (std::int32_t i = first; i < last; ++i) {
    if (i > first) out += ',';
    children_[0].Append(i, out);
  }
  out += ']';
}

void ColumnText::AppendMap(std::int64_t at, std::string& out) const {
  const auto [first, last] = RangeAt(at);
  std::vector<std::pair<std::string, std::int32_t>> entries;
  for (std::int32_t i = first; i < last; ++i) {
    std::string key;
    children_[0].Append(i, key);
    entries.emplace_back(std::move(key), i);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return JavaLess(a.first, b.first); });
  out += '(';
  bool any = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    // Of equal keys the last one counts.
    if (i + 1 < entries.size() && entries[i + 1].first == entries[i].first) continue;
    if (any) out += ',';
    any = true;
    out += entries[i].first;
    out += '=';
    children_[1].Append(entries[i].second, out);
  }
  out += ')';
}

RowText::RowText(const std::vector<Field>& fields, const arrow::RecordBatch& batch) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    columns_.emplace_back(fields[i].type, *batch.column_data(static_cast<int>(i)));
  }
}

void RowText::Append(std::int64_t row, std::size_t first, std::size_t last,
                     std::string& out) const {
  for (std::size_t i = first; i < last; ++i) {
    if (i > 0) out += '|';
    columns_[i].Append(row, out);
  }
}

}  // namespace icewright
