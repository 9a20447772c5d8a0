#pragma once

/// \file data/splice/random_rows.h
/// For tests: rows of any schema from a seed, and writer settings for them.

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>
#include <parquet/properties.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "data/arrow_schema.h"
#include "data/parquet_schema.h"
#include "table/schema.h"

namespace icewright {

/// Values of a column are drawn from `distinct` many; the same seed gives the same values.
class RandomRows {
 public:
  explicit RandomRows(std::uint64_t seed) : random_(seed) {}

  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool OneIn(int n) { return Below(n) == 0; }

  std::shared_ptr<arrow::RecordBatch> Make(const Schema& schema, std::int64_t rows) {
    arrow::ArrayVector columns;
    for (const Field& field : schema.fields()) columns.push_back(Column(field, rows));
    return arrow::RecordBatch::Make(*ToArrowSchema(schema), rows, std::move(columns));
  }

 private:
  std::shared_ptr<arrow::Array> Column(const Field& field, std::int64_t rows) {
    constexpr int kDistinct[] = {1, 3, 40, 1000, 1'000'000};
    distinct_ = kDistinct[Below(5)];
    constexpr int kNullPerMille[] = {0, 0, 30, 300, 1000};
    nulls_ = kNullPerMille[Below(5)];
    in_order_ = OneIn(4);
    base_ = static_cast<std::int64_t>(random_() % 1000) * 1'000'000;
    auto type = *ToArrowField(field);
    std::unique_ptr<arrow::ArrayBuilder> builder;
    EXPECT_TRUE(arrow::MakeBuilder(arrow::default_memory_pool(), type->type(), &builder).ok());
    for (std::int64_t i = 0; i < rows; ++i) Append(field, *builder, i);
    return *builder->Finish();
  }

  std::int64_t Number(std::int64_t row) {
    return base_ + (in_order_
                        ? row
                        : static_cast<std::int64_t>(random_() % static_cast<unsigned>(distinct_)));
  }

  void Append(const Field& field, arrow::ArrayBuilder& builder, std::int64_t row) {
    if (!field.required && Below(1000) < nulls_) {
      EXPECT_TRUE(builder.AppendNull().ok());
      return;
    }
    switch (field.type.id()) {
      case TypeId::kStruct: {
        auto& rows = static_cast<arrow::StructBuilder&>(builder);
        EXPECT_TRUE(rows.Append().ok());
        for (int i = 0; i < rows.num_fields(); ++i) {
          Append(field.type.fields()[static_cast<std::size_t>(i)], *rows.field_builder(i), row);
        }
        return;
      }
      case TypeId::kList: {
        auto& lists = static_cast<arrow::ListBuilder&>(builder);
        EXPECT_TRUE(lists.Append().ok());
        for (int n = Below(4); n > 0; --n)
          Append(field.type.fields()[0], *lists.value_builder(), row);
        return;
      }
      case TypeId::kMap: {
        auto& maps = static_cast<arrow::MapBuilder&>(builder);
        EXPECT_TRUE(maps.Append().ok());
        for (int n = Below(3); n > 0; --n) {
          Append(field.type.fields()[0], *maps.key_builder(), row);
          Append(field.type.fields()[1], *maps.item_builder(), row);
        }
        return;
      }
      default:
        AppendValue(field.type, builder, Number(row));
    }
  }

  template <typename Builder, typename T>
  static void Add(arrow::ArrayBuilder& builder, T value) {
    EXPECT_TRUE(static_cast<Builder&>(builder).Append(value).ok());
  }

  static std::string Text(std::int64_t n, std::size_t width) {
    std::string out(width, '\0');
    for (std::size_t i = 0; i < width; ++i) out[i] = static_cast<char>((n >> (8 * (i % 8))) & 0xFF);
    return out;
  }

  void AppendValue(const Type& type, arrow::ArrayBuilder& builder, std::int64_t n) {
    switch (type.id()) {
      case TypeId::kBoolean:
        return Add<arrow::BooleanBuilder>(builder, n % 2 == 0);
      case TypeId::kInt:
        return Add<arrow::Int32Builder>(builder,
                                        static_cast<std::int32_t>(n % 2'000'000'000) - 500);
      case TypeId::kDate:
        return Add<arrow::Date32Builder>(builder, static_cast<std::int32_t>(n % 40'000) - 500);
      case TypeId::kLong:
        return Add<arrow::Int64Builder>(builder, n * 3 - 500);
      case TypeId::kTime:
        return Add<arrow::Time64Builder>(builder, n % 86'400'000'000);
      case TypeId::kTimestamp:
      case TypeId::kTimestampTz:
        return Add<arrow::TimestampBuilder>(builder, n * 1'000'003);
      case TypeId::kFloat:
        return Add<arrow::FloatBuilder>(builder, n % 37 == 5
                                                     ? std::numeric_limits<float>::quiet_NaN()
                                                     : static_cast<float>(n) * 0.5F - 20.25F);
      case TypeId::kDouble:
        return Add<arrow::DoubleBuilder>(builder, n % 41 == 7
                                                      ? std::numeric_limits<double>::quiet_NaN()
                                                      : static_cast<double>(n) * 0.25 - 20.125);
      case TypeId::kString:
        return Add<arrow::StringBuilder>(builder,
                                         "value-" + std::to_string(n * 7919 % 100'003) +
                                             std::string(static_cast<std::size_t>(n % 40), 'x'));
      case TypeId::kBinary:
        return Add<arrow::BinaryBuilder>(builder, Text(n, static_cast<std::size_t>(n % 23)));
      case TypeId::kUuid:
      case TypeId::kFixed: {
        auto& fixed = static_cast<arrow::FixedSizeBinaryBuilder&>(builder);
        EXPECT_TRUE(fixed.Append(Text(n, static_cast<std::size_t>(fixed.byte_width()))).ok());
        return;
      }
      case TypeId::kDecimal:
        return Add<arrow::Decimal128Builder>(builder, arrow::Decimal128(n % 1'000'000 - 500));
      default:
        ADD_FAILURE() << "no values of type " << type.ToString();
    }
  }

  std::mt19937_64 random_;
  int distinct_ = 1;
  int nulls_ = 0;
  bool in_order_ = false;
  std::int64_t base_ = 0;
};

/// Codec, page version and size, encodings, dictionaries, indexes, checksums: all by chance.
inline std::shared_ptr<parquet::WriterProperties> RandomProperties(RandomRows& random,
                                                                   const Schema& schema,
                                                                   bool with_statistics) {
  parquet::WriterProperties::Builder builder;
  builder.version(parquet::ParquetVersion::PARQUET_2_6);
  constexpr arrow::Compression::type kCodecs[] = {
      arrow::Compression::UNCOMPRESSED, arrow::Compression::SNAPPY, arrow::Compression::GZIP,
      arrow::Compression::ZSTD,         arrow::Compression::LZ4,    arrow::Compression::BROTLI};
  builder.compression(kCodecs[random.Below(random.OneIn(4) ? 6 : 5)]);
  if (random.OneIn(2)) builder.data_page_version(parquet::ParquetDataPageVersion::V2);
  if (random.OneIn(2)) builder.enable_page_checksum();
  if (random.OneIn(2))
    builder.enable_write_page_index();
  else
    builder.disable_write_page_index();
  if (random.OneIn(2)) builder.enable_store_decimal_as_integer();
  if (!with_statistics && random.OneIn(3)) builder.disable_statistics();
  builder.data_pagesize(64 << random.Below(12));
  builder.max_rows_per_page(random.OneIn(2) ? 20'000 : 10 + random.Below(500));
  builder.write_batch_size(1 + random.Below(300));
  builder.dictionary_pagesize_limit(random.OneIn(3) ? 200 : 1 << 20);
  builder.max_row_group_length(random.OneIn(2) ? 1'000'000 : 50 + random.Below(1000));
  for (const ParquetLeaf& leaf : ParquetLeaves(schema)) {
    if (!random.OneIn(3)) continue;
    builder.disable_dictionary(leaf.path);
    if (random.OneIn(2)) continue;
    switch (leaf.field.type.id()) {
      case TypeId::kInt:
      case TypeId::kLong:
        builder.encoding(leaf.path, parquet::Encoding::DELTA_BINARY_PACKED);
        break;
      case TypeId::kFloat:
      case TypeId::kDouble:
      case TypeId::kFixed:
        builder.encoding(leaf.path, parquet::Encoding::BYTE_STREAM_SPLIT);
        break;
      case TypeId::kString:
        builder.encoding(leaf.path, random.OneIn(2) ? parquet::Encoding::DELTA_BYTE_ARRAY
                                                    : parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY);
        break;
      case TypeId::kBoolean:
        builder.encoding(leaf.path, parquet::Encoding::RLE);
        break;
      default:
        break;
    }
  }
  return builder.build();
}

}  // namespace icewright
