#include "data/sort_key.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/arrow_values.h"
#include "table/field.h"
#include "table/literal.h"

namespace icewright {
namespace {

template <typename T>
void AppendBigEndian(std::string& out, T value) {
  for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
    out += static_cast<char>(static_cast<unsigned char>(value >> shift));
  }
}

std::uint64_t Ordered(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

// Java's order: all NaN are one and after all else.
std::uint64_t Ordered(double value) {
  if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  return negative ? ~bits : bits | (std::uint64_t{1} << 63);
}

// 00 becomes 00 01 and the end 00 00: a prefix sorts first and no byte is mistaken for the end.
void AppendText(std::string& out, std::string_view text) {
  for (const char c : text) {
    out += c;
    if (c == '\0') out += '\1';
  }
  out.append(2, '\0');
}

void AppendValue(std::string& out, const Literal& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    out += *flag ? '\1' : '\0';
  } else if (const auto* small = std::get_if<std::int32_t>(&value)) {
    AppendBigEndian(out, Ordered(std::int64_t{*small}));
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    AppendBigEndian(out, Ordered(*number));
  } else if (const auto* single = std::get_if<float>(&value)) {
    AppendBigEndian(out, Ordered(static_cast<double>(*single)));
  } else if (const auto* real = std::get_if<double>(&value)) {
    AppendBigEndian(out, Ordered(*real));
  } else if (const auto* decimal = std::get_if<Int128>(&value)) {
    AppendBigEndian(out, Ordered(static_cast<std::int64_t>(*decimal >> 64)));
    AppendBigEndian(out, static_cast<std::uint64_t>(*decimal));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    AppendText(out, *text);
  }
}

// One field of one row. Nulls are placed apart from the direction.
void AppendPart(std::string& out, const SortField& field, const Literal& value) {
  const bool null = IsNull(value);
  const bool nulls_first = field.nulls == SortField::Nulls::kFirst;
  out += null == nulls_first ? '\0' : '\1';
  if (null) return;
  const std::size_t start = out.size();
  AppendValue(out, value);
  if (field.direction == SortField::Direction::kAsc) return;
  for (std::size_t i = start; i < out.size(); ++i) out[i] = static_cast<char>(~out[i]);
}

}  // namespace

Result<SortKey> SortKey::Make(const Schema& schema, const std::vector<SortField>& fields) {
  SortKey key;
  for (const SortField& field : fields) {
    if (field.transform.kind() == Transform::Kind::kVoid) continue;
    if (field.transform.kind() == Transform::Kind::kUnknown || field.source_ids.size() != 1) {
      return Error(Code::kUnsupported, "sort by transform " + field.transform.text());
    }
    const Field* source = schema.Find(field.source_id());
    auto path = PathOfField(schema, field.source_id());
    if (source == nullptr || !path) {
      return Error(Code::kInvalidArgument,
                   "sort by field " + ToString(field.source_id()) + ": no such column");
    }
    if (!field.transform.CanTransform(source->type)) {
      return Error(Code::kInvalidArgument, "sort by " + field.transform.text() + " of column " +
                                               source->name + " of type " +
                                               source->type.ToString());
    }
    key.parts_.push_back({field, source->type, std::move(*path)});
  }
  return key;
}

Result<SortKeys> SortKey::Encode(const arrow::RecordBatch& batch) const {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const Part& part : parts_) {
    IW_ASSIGN(auto column, ColumnAt(batch, part.path));
    columns.push_back(std::move(column));
  }
  SortKeys keys;
  keys.offsets.reserve(static_cast<std::size_t>(batch.num_rows()) + 1);
  keys.offsets.push_back(0);
  for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      IW_ASSIGN(Literal value, LiteralAt(*columns[i], row));
      if (parts_[i].field.transform.kind() != Transform::Kind::kIdentity) {
        IW_ASSIGN(value, parts_[i].field.transform.Apply(parts_[i].source, value));
      }
      AppendPart(keys.bytes, parts_[i].field, value);
    }
    keys.offsets.push_back(keys.bytes.size());
  }
  return keys;
}

}  // namespace icewright
