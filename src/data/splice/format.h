#pragma once

/// \file data/splice/format.h
/// Parquet's metadata, as far as pages can be moved by it: footers, page headers, page indexes.
///
/// Spec: parquet.thrift. Views point into the bytes that were parsed.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/block_compression.h"

namespace icewright::splice {

enum class Physical : std::uint8_t {
  kBoolean,
  kInt32,
  kInt64,
  kInt96,
  kFloat,
  kDouble,
  kByteArray,
  kFixed
};

enum class Encoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};
constexpr bool IsDictionary(Encoding encoding) {
  return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
}

enum class PageType : std::uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

/// The codec of a number in the footer; unset for those that pages are not moved in (LZO, Brotli,
/// Hadoop's LZ4).
std::optional<BlockCodec> CodecOf(std::int32_t number);
std::int32_t NumberOf(BlockCodec codec);

/// How the bounds of a column are ordered.
enum class Order : std::uint8_t {
  kUndefined,
  kSigned32,
  kSigned64,
  kFloat,
  kDouble,
  kBytes,
  kSignedBigEndian,
  kBoolean
};

struct Statistics {
  std::optional<std::int64_t> null_count = {};
  std::optional<ByteView> min = {}, max = {};  // min_value, max_value; the old pair is ignored
  bool min_exact = false, max_exact = false, exact_known = false;
};

struct SizeStatistics {
  std::optional<std::int64_t> unencoded_bytes = {};
  std::vector<std::int64_t> repetition = {}, definition = {};
  bool empty() const { return !unencoded_bytes && repetition.empty() && definition.empty(); }
};

/// A part of the file. Checked against nothing when parsed.
struct FileRange {
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

struct ColumnChunk {
  Physical type = Physical::kBoolean;
  std::int32_t codec = 0;
  std::uint32_t encodings = 0;  // bit set, by number
  std::int64_t values = 0;
  std::int64_t uncompressed = 0, compressed = 0;
  std::int64_t data_offset = 0, dictionary_offset = 0;
  Statistics statistics = {};
  SizeStatistics sizes = {};
  bool has_bloom = false, encrypted = false, external = false;
  FileRange offset_index = {}, column_index = {};

  FileRange range() const {
    const bool first = dictionary_offset > 0 && dictionary_offset < data_offset;
    return {first ? dictionary_offset : data_offset, compressed};
  }
};

struct RowGroup {
  std::vector<ColumnChunk> columns;
  std::int64_t rows = 0;
};

/// What the values of a leaf mean, whatever words the writer used for it.
struct Meaning {
  enum class Kind : std::uint8_t {
    kNone,  // the physical type says all: also signed integers of its width, text, JSON, enum
    kDate,
    kTimeMicros,
    kTimestampMicros,
    kTimestampNanos,
    kDecimal,
    kOther  // everything that has to be decoded
  };
  Kind kind = Kind::kNone;
  int precision = 0, scale = 0;
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

/// A column of the file.
struct Leaf {
  /// A node on the way down; the id is -1 where the file has none.
  struct Node {
    int id = -1;
    int repetition = 0;
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes = {};
  std::vector<ByteView> path = {};
  Physical type = Physical::kBoolean;
  int width = 0;  // bytes of a PLAIN value; 0 for byte arrays and booleans
  int max_definition = 0, max_repetition = 0;
  Meaning meaning = {};
  Order order = Order::kUndefined;

  int id() const { return nodes.back().id; }
  bool flat() const { return nodes.size() == 1; }
};

struct FileMeta {
  ByteView schema, key_values, column_orders;  // encoded values, of type list
  bool type_defined_order = false;             // for every column
  std::vector<Leaf> leaves;
  std::vector<RowGroup> groups;
  std::int64_t rows = 0;
};

/// Lengths of row groups and sizes of chunks are not negative, but not checked against the file; a
/// null count that cannot be is left out. Errors: kCorrupt; kUnsupported for an encrypted file.
Result<FileMeta> ParseFooter(ByteView footer);

struct PageHeader {
  PageType type = PageType::kData;
  std::int32_t uncompressed = 0, compressed = 0;
  std::optional<std::int32_t> crc = {};
  std::int32_t values = 0;
  Encoding encoding = Encoding::kPlain;
  Encoding definition_encoding = Encoding::kRle, repetition_encoding = Encoding::kRle;  // v1
  std::int32_t nulls = 0, rows = 0, definition_bytes = 0, repetition_bytes = 0;         // v2
  bool is_compressed = true, is_sorted = false;
  Statistics statistics = {};
};

/// Reads the header at the start of `bytes`, which reach to the end of the chunk; returns its
/// length. All sizes of the result are within `bytes`, but nulls and rows may be any numbers:
/// writers get them wrong. Errors: kCorrupt.
Result<std::size_t> ParsePageHeader(ByteView bytes, PageHeader& header);
void WritePageHeader(Bytes& out, const PageHeader& header);

struct PageLocation {
  std::int64_t offset = 0;
  std::int32_t size = 0;
  std::int64_t first_row = 0;
};
struct OffsetIndex {
  std::vector<PageLocation> pages;
};
struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<ByteView> min, max;
  std::vector<std::int64_t> null_counts;
  int boundary_order = 0;
};

/// Errors: kCorrupt.
Result<OffsetIndex> ParseOffsetIndex(ByteView bytes);
Result<ColumnIndex> ParseColumnIndex(ByteView bytes);
void WriteOffsetIndex(Bytes& out, const OffsetIndex& index);
void WriteColumnIndex(Bytes& out, const ColumnIndex& index);

}  // namespace icewright::splice
