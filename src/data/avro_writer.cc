#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <cstring>
#include <map>

#include "base/text.h"
#include "codec/avro/container.h"
#include "codec/json.h"
#include "data/avro_file_schema.h"
#include "data/format_writers.h"
#include "data/parquet_schema.h"
#include "table/field.h"

namespace icewright {
namespace {

using avro::ContainerWriter;
using avro::Encoder;

void EncodeValue(Encoder& out, const Field& field, const arrow::Array& array, std::int64_t row);

// The position of the value in the union ["null", T], then the value.
void EncodeField(Encoder& out, const Field& field, const arrow::Array& array, std::int64_t row) {
  if (field.type.id() == TypeId::kUnknown) return;
  if (!field.required) {
    const bool null = array.IsNull(row);
    out.WriteLong(null ? 0 : 1);
    if (null) return;
  }
  EncodeValue(out, field, array, row);
}

// Big-endian two's complement, cut to the size of the fixed type.
void EncodeDecimal(Encoder& out, const Type& type, const std::uint8_t* little) {
  const auto size = static_cast<std::size_t>(FixedDecimalSize(type.precision()));
  char raw[16];
  for (std::size_t i = 0; i < size; ++i) raw[i] = static_cast<char>(little[size - 1 - i]);
  out.WriteFixed(ByteView(raw, size));
}

void EncodeList(Encoder& out, const Field& field, const arrow::ListArray& array, std::int64_t row) {
  const Field& element = field.type.fields()[0];
  const std::int64_t count = array.value_length(row);
  if (count > 0) out.WriteLong(count);
  for (std::int64_t i = 0; i < count; ++i) {
    EncodeField(out, element, *array.values(), array.value_offset(row) + i);
  }
  out.WriteLong(0);
}

void EncodeMap(Encoder& out, const Field& field, const arrow::MapArray& array, std::int64_t row) {
  const std::int64_t count = array.value_length(row);
  if (count > 0) out.WriteLong(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = array.value_offset(row) + i;
    EncodeValue(out, field.type.fields()[0], *array.keys(), at);
    EncodeField(out, field.type.fields()[1], *array.items(), at);
  }
  out.WriteLong(0);
}

void EncodeValue(Encoder& out, const Field& field, const arrow::Array& array, std::int64_t row) {
  switch (field.type.id()) {
    case TypeId::kBoolean:
      return out.WriteBoolean(static_cast<const arrow::BooleanArray&>(array).Value(row));
    case TypeId::kInt:
    case TypeId::kDate:
      return out.WriteInt(array.data()->GetValues<std::int32_t>(1)[row]);
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return out.WriteLong(array.data()->GetValues<std::int64_t>(1)[row]);
    case TypeId::kFloat:
      return out.WriteFloat(array.data()->GetValues<float>(1)[row]);
    case TypeId::kDouble:
      return out.WriteDouble(array.data()->GetValues<double>(1)[row]);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return out.WriteBytes(static_cast<const arrow::BinaryArray&>(array).GetView(row));
    case TypeId::kUuid:
    case TypeId::kFixed:
      return out.WriteFixed(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
    case TypeId::kDecimal:
      return EncodeDecimal(out, field.type,
                           static_cast<const arrow::FixedSizeBinaryArray&>(array).GetValue(row));
    case TypeId::kStruct: {
      const auto& rows = static_cast<const arrow::StructArray&>(array);
      const std::vector<Field>& fields = field.type.fields();
      for (std::size_t i = 0; i < fields.size(); ++i) {
        EncodeField(out, fields[i], *rows.field(static_cast<int>(i)), row);
      }
      return;
    }
    case TypeId::kList:
      return EncodeList(out, field, static_cast<const arrow::ListArray&>(array), row);
    case TypeId::kMap:
      return EncodeMap(out, field, static_cast<const arrow::MapArray&>(array), row);
    default:
      return;  // the schema has no such column
  }
}

class AvroWriter final : public FileWriter {
 public:
  AvroWriter(WriterInput input, ContainerWriter container)
      : plan_(std::move(input.plan)),
        sink_(std::move(input.sink)),
        container_(std::move(container)) {}

  Status Write(RunContext& run, const arrow::RecordBatch& batch) override {
    IW_TRY(run.Check());
    const std::vector<Field>& fields = plan_->schema.fields();
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      Encoder encoder = container_.encoder();
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const arrow::Array& column = *batch.column(static_cast<int>(i));
        if (fields[i].required && column.IsNull(row)) {
          return Error(Code::kCorrupt, "required column " + fields[i].name + " has a null");
        }
        EncodeField(encoder, fields[i], column, row);
      }
      IW_TRY(container_.EndRecord());
    }
    rows_ += batch.num_rows();
    return {};
  }

  std::int64_t estimated_bytes() const override { return container_.estimated_bytes(); }
  std::int64_t buffered_bytes() const override { return 0; }
  Status EndRowGroup(RunContext&) override { return {}; }

  Result<DataFile> Close(RunContext& run) override {
    IW_TRY(run.Check());
    IW_TRY(container_.Finish());
    const std::int64_t size = sink_->bytes_written();
    IW_TRY(sink_->Finish());
    // As Java's, Avro files carry a record count and no metrics.
    return DescribeFile(*plan_, sink_->location(), rows_, size);
  }

 private:
  std::shared_ptr<const WritePlan> plan_;
  std::shared_ptr<WriterSink> sink_;
  ContainerWriter container_;
  std::int64_t rows_ = 0;
};

Result<ContainerWriter::Options> ContainerOptions(RunContext& run, const Properties& properties) {
  struct Choice {
    std::string_view name;
    Compression codec;
    std::optional<int> level;
  };
  static constexpr Choice kChoices[] = {
      {"uncompressed", Compression::kNone, {}},
      {"gzip", Compression::kDeflate, 9},
      {"zstd", Compression::kZstd, 1},
      {"snappy", Compression::kSnappy, {}},
  };
  const std::string name =
      ToLower(StringProperty(properties, "write.avro.compression-codec", "gzip"));
  for (const Choice& choice : kChoices) {
    if (choice.name != name) continue;
    ContainerWriter::Options options;
    options.compression = choice.codec;
    options.level = choice.level;
    if (choice.level && properties.contains("write.avro.compression-level")) {
      IW_ASSIGN(const std::int64_t level,
                IntProperty(properties, "write.avro.compression-level", *choice.level));
      options.level = static_cast<int>(level);
    }
    AppendLittle(options.sync_marker, run.random().Next());
    AppendLittle(options.sync_marker, run.random().Next());
    return options;
  }
  return Error(Code::kUnsupported, "write.avro.compression-codec=" + name);
}

}  // namespace

Result<std::unique_ptr<FileWriter>> OpenAvroWriter(RunContext& run, WriterInput input) {
  const Schema& schema = input.plan->schema;
  IW_ASSIGN(const Json avro_schema, ToAvroSchema(schema));
  IW_ASSIGN(auto options, ContainerOptions(run, input.plan->metadata->properties));
  IW_ASSIGN(auto container, ContainerWriter::Open(input.sink->bytes(), DumpJson(avro_schema),
                                                  {{"iceberg.schema", DumpJson(schema.ToJson())}},
                                                  std::move(options)));
  return std::unique_ptr<FileWriter>(
      std::make_unique<AvroWriter>(std::move(input), std::move(container)));
}

}  // namespace icewright
