#pragma once

/// \file data/avro_column.h
/// One Avro schema node, decoded into an Arrow builder.

#include <arrow/array/builder_base.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "codec/avro/coding.h"
#include "codec/avro/schema.h"
#include "data/source_file.h"

namespace icewright {

/// A column of an Avro file. Single-threaded.
class AvroColumn {
 public:
  /// What the file has here. A type that only a newer build could read (a union of two values) is
  /// described as well as it can be; Make refuses it. Errors: kUnsupported for a decimal beyond 38
  /// digits.
  static Result<SourceField> Describe(const std::string& name, std::optional<std::int32_t> id,
                                      const avro::Schema& schema);

  /// Precondition: `field` came from Describe for this schema. Both are borrowed.
  static Result<AvroColumn> Make(const SourceField& field, const avro::Schema& schema,
                                 arrow::MemoryPool* pool);

  /// Decodes one value. Malformed bytes show in decoder.ok(). Errors: kCorrupt, kExhausted.
  Status Read(avro::Decoder& decoder) { return Read(decoder, *builder_); }

  /// What was read since the last call.
  Result<std::shared_ptr<arrow::Array>> Finish();

 private:
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,
    kInt,
    kDate,
    kTimeMillis,
    kLong,
    kTimeMicros,
    kTimestamp,
    kFloat,
    kDouble,
    kBytes,
    kFixed,
    kEnum,
    kDecimalBytes,
    kDecimalFixed,
    kStruct,
    kList,
    kRecordMap,
    kMap,
  };
  static Result<Kind> KindOf(const SourceField& field, const avro::Schema& value);
  static Result<AvroColumn> MakeNode(const SourceField& field, const avro::Schema& schema);
  Status Read(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const;
  Status ReadValue(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const;
  Status ReadChecked(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const;
  Status ReadList(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const;
  Status ReadMap(avro::Decoder& decoder, arrow::ArrayBuilder& builder) const;

  Kind kind_ = Kind::kNull;
  int null_branch_ = -1;                  // of a union; -1: no union
  int size_ = 0;                          // fixed
  const avro::Schema* schema_ = nullptr;  // enum
  std::vector<AvroColumn> children_;
  std::unique_ptr<arrow::ArrayBuilder> builder_;  // of the topmost node
};

}  // namespace icewright
