#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <cstring>

#include "data/arrow_bridge.h"
#include "data/group_proof.h"

namespace icewright {
namespace {

using Hashes = std::vector<std::uint64_t>;

constexpr std::uint64_t kNullHash = 0x9e3779b97f4a7c15ULL;

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Order matters: Join(Join(s, a), b) != Join(Join(s, b), a).
std::uint64_t Join(std::uint64_t seed, std::uint64_t hash) {
  return Mix(seed * 0xff51afd7ed558ccdULL + hash);
}

std::uint64_t HashBytes(const char* data, std::size_t size) {
  std::uint64_t hash = size;
  while (size >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    hash = Join(hash, word);
    data += 8;
    size -= 8;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, data, size);
  return Join(hash, word);
}

Result<Hashes> HashArray(const arrow::Array& array);

// One hash per slot; value(i) is asked for valid slots only.
template <typename Value>
Hashes HashEach(const arrow::Array& array, Value&& value) {
  Hashes out(static_cast<std::size_t>(array.length()), kNullHash);
  const bool no_nulls = array.null_count() == 0;
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (no_nulls || array.IsValid(i)) out[static_cast<std::size_t>(i)] = Mix(value(i) + 1);
  }
  return out;
}

template <typename T>
Hashes HashNumbers(const arrow::Array& array) {
  const T* values = array.data()->GetValues<T>(1);
  return HashEach(array, [values](std::int64_t i) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i]));
  });
}

Result<Hashes> HashStruct(const arrow::StructArray& array) {
  Hashes rows(static_cast<std::size_t>(array.length()), 0);
  for (int c = 0; c < array.num_fields(); ++c) {
    IW_ASSIGN(const Hashes column, HashArray(*array.field(c)));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = Join(rows[i], column[i]);
  }
  return HashEach(array, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
}

Result<Hashes> HashList(const arrow::ListArray& array) {
  const std::int64_t first = array.length() == 0 ? 0 : array.value_offset(0);
  const std::int64_t last = array.length() == 0 ? 0 : array.value_offset(array.length());
  IW_ASSIGN(const Hashes elements, HashArray(*array.values()->Slice(first, last - first)));
  return HashEach(array, [&](std::int64_t i) {
    auto hash = static_cast<std::uint64_t>(array.value_length(i));
    for (std::int64_t k = array.value_offset(i); k < array.value_offset(i + 1); ++k) {
      hash = Join(hash, elements[static_cast<std::size_t>(k - first)]);
    }
    return hash;
  });
}

Result<Hashes> HashDictionary(const arrow::DictionaryArray& array) {
  IW_ASSIGN(const Hashes entries, HashArray(*array.dictionary()));
  Hashes out(static_cast<std::size_t>(array.length()), kNullHash);
  for (std::int64_t i = 0; i < array.length(); ++i) {
    if (array.IsNull(i)) continue;
    out[static_cast<std::size_t>(i)] = entries[static_cast<std::size_t>(array.GetValueIndex(i))];
  }
  return out;
}

Result<Hashes> HashArray(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::NA:
      return Hashes(static_cast<std::size_t>(array.length()), kNullHash);
    case arrow::Type::BOOL:
      return HashEach(array, [&](std::int64_t i) -> std::uint64_t {
        return static_cast<const arrow::BooleanArray&>(array).Value(i) ? 1 : 0;
      });
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::FLOAT:
      return HashNumbers<std::int32_t>(array);
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DOUBLE:
      return HashNumbers<std::int64_t>(array);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return HashEach(array, [&](std::int64_t i) {
        const std::string_view text = static_cast<const arrow::BinaryArray&>(array).GetView(i);
        return HashBytes(text.data(), text.size());
      });
    case arrow::Type::FIXED_SIZE_BINARY:
    case arrow::Type::DECIMAL128:
      return HashEach(array, [&](std::int64_t i) {
        const auto text = static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(i);
        return HashBytes(text.data(), text.size());
      });
    case arrow::Type::DICTIONARY:
      return HashDictionary(static_cast<const arrow::DictionaryArray&>(array));
    case arrow::Type::STRUCT:
      return HashStruct(static_cast<const arrow::StructArray&>(array));
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return HashList(static_cast<const arrow::ListArray&>(array));
    default:
      return Error(Code::kUnsupported, "no hash of Arrow type " + array.type()->ToString());
  }
}

}  // namespace

Result<std::vector<std::uint64_t>> HashRows(const arrow::RecordBatch& batch) {
  Hashes rows(static_cast<std::size_t>(batch.num_rows()), 0);
  for (int c = 0; c < batch.num_columns(); ++c) {
    IW_ASSIGN(const Hashes column, HashArray(*batch.column(c)));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = Join(rows[i], column[i]);
  }
  return rows;
}

Status RowHashSum::Add(const arrow::RecordBatch& batch) {
  IW_ASSIGN(const Hashes rows, HashRows(batch));
  for (const std::uint64_t row : rows) sum_ += row;
  return {};
}

}  // namespace icewright
