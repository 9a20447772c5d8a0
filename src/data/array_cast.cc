#include "data/array_cast.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/decimal.h>

#include <cstring>
#include <string>
#include <utility>

#include "data/arrow_bridge.h"

namespace icewright {
namespace {

using DataPtr = std::shared_ptr<arrow::ArrayData>;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

/// Same buffers, other name.
Result<DataPtr> Retype(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool*) {
  DataPtr out = in.Copy();
  out->type = to;
  return out;
}

Result<DataPtr> AllNull(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool* pool) {
  IW_ASSIGN(auto array, FromArrow(arrow::MakeArrayOfNull(to, in.offset + in.length, pool)));
  DataPtr out = array->data()->Copy();
  return out->Slice(in.offset, in.length);
}

/// Applies convert(value, &ok) to every slot. Slots of nulls hold anything, so a failure counts
/// only if the slot is valid.
template <typename From, typename To, typename Convert>
Result<DataPtr> Map(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool* pool,
                    Convert convert) {
  const std::int64_t slots = in.offset + in.length;
  IW_ASSIGN(std::shared_ptr<arrow::Buffer> buffer,
            FromArrow(arrow::AllocateBuffer(slots * static_cast<std::int64_t>(sizeof(To)), pool)));
  const From* values = in.GetValues<From>(1, 0);
  To* out = buffer->mutable_data_as<To>();
  bool all_fit = true;
  for (std::int64_t i = in.offset; i < slots; ++i) {
    bool ok = true;
    out[i] = convert(values[i], ok);
    all_fit &= ok;
  }
  if (!all_fit) {
    for (std::int64_t i = in.offset; i < slots; ++i) {
      bool ok = true;
      convert(values[i], ok);
      if (!ok && in.IsValid(i - in.offset)) {
        return Error(Code::kCorrupt, "value " + std::to_string(values[i]) + " of type " +
                                         in.type->ToString() + " does not fit " + to->ToString());
      }
    }
  }
  return arrow::ArrayData::Make(to, in.length, {in.buffers[0], std::move(buffer)}, in.null_count,
                                in.offset);
}

template <typename From, typename To>
Result<DataPtr> Widen(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool* pool) {
  return Map<From, To>(in, to, pool, [](From v, bool& ok) {
    ok = std::in_range<To>(v);
    return static_cast<To>(v);
  });
}

Result<DataPtr> FloatToDouble(const arrow::ArrayData& in, const TypePtr& to,
                              arrow::MemoryPool* pool) {
  return Map<float, double>(in, to, pool, [](float v, bool&) { return static_cast<double>(v); });
}

/// Times kFactor.
template <typename From, std::int64_t kFactor>
Result<DataPtr> Finer(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool* pool) {
  return Map<From, std::int64_t>(in, to, pool, [](From v, bool& ok) {
    std::int64_t out = 0;
    ok = !__builtin_mul_overflow(static_cast<std::int64_t>(v), kFactor, &out);
    return out;
  });
}

/// Divided by kFactor, rounded down.
template <std::int64_t kFactor>
Result<DataPtr> Coarser(const arrow::ArrayData& in, const TypePtr& to, arrow::MemoryPool* pool) {
  return Map<std::int64_t, std::int64_t>(
      in, to, pool, [](std::int64_t v, bool&) { return v / kFactor - (v % kFactor < 0 ? 1 : 0); });
}

/// ORC has no type for bytes of one length.
Result<DataPtr> BinaryToFixed(const arrow::ArrayData& in, const TypePtr& to,
                              arrow::MemoryPool* pool) {
  const std::int64_t width = static_cast<const arrow::FixedSizeBinaryType&>(*to).byte_width();
  const std::int64_t slots = in.offset + in.length;
  IW_ASSIGN(std::shared_ptr<arrow::Buffer> buffer,
            FromArrow(arrow::AllocateBuffer(slots * width, pool)));
  std::uint8_t* const out = buffer->mutable_data();
  const auto* const offsets = in.GetValues<std::int32_t>(1, 0);
  const std::uint8_t* const bytes = in.buffers[2] == nullptr ? nullptr : in.buffers[2]->data();
  for (std::int64_t i = in.offset; i < slots; ++i) {
    if (in.IsNull(i - in.offset)) {
      std::memset(out + i * width, 0, static_cast<std::size_t>(width));
      continue;
    }
    const std::int64_t size = offsets[i + 1] - offsets[i];
    if (size != width) {
      return Error(Code::kCorrupt, "a value of " + std::to_string(size) + " bytes in a column of " +
                                       to->ToString());
    }
    std::memcpy(out + i * width, bytes + offsets[i], static_cast<std::size_t>(width));
  }
  return arrow::ArrayData::Make(to, in.length, {in.buffers[0], std::move(buffer)}, in.null_count,
                                in.offset);
}

CastFunction ToInt32(const arrow::DataType& from) {
  switch (from.id()) {
    case arrow::Type::INT8:
      return Widen<std::int8_t, std::int32_t>;
    case arrow::Type::INT16:
      return Widen<std::int16_t, std::int32_t>;
    case arrow::Type::UINT8:
      return Widen<std::uint8_t, std::int32_t>;
    case arrow::Type::UINT16:
      return Widen<std::uint16_t, std::int32_t>;
    case arrow::Type::UINT32:
      return Widen<std::uint32_t, std::int32_t>;
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
      return Retype;
    default:
      return nullptr;
  }
}

CastFunction ToInt64(const arrow::DataType& from) {
  switch (from.id()) {
    case arrow::Type::INT8:
      return Widen<std::int8_t, std::int64_t>;
    case arrow::Type::INT16:
      return Widen<std::int16_t, std::int64_t>;
    case arrow::Type::INT32:
      return Widen<std::int32_t, std::int64_t>;
    case arrow::Type::UINT8:
      return Widen<std::uint8_t, std::int64_t>;
    case arrow::Type::UINT16:
      return Widen<std::uint16_t, std::int64_t>;
    case arrow::Type::UINT32:
      return Widen<std::uint32_t, std::int64_t>;
    case arrow::Type::UINT64:
      return Widen<std::uint64_t, std::int64_t>;
    case arrow::Type::INT64:
      return Retype;
    default:
      return nullptr;
  }
}

CastFunction ToMicros(const arrow::DataType& from) {
  switch (from.id()) {
    case arrow::Type::INT64:
      return Retype;
    case arrow::Type::DATE32:
      return Finer<std::int32_t, kMicrosPerDay>;
    case arrow::Type::TIMESTAMP:
      switch (static_cast<const arrow::TimestampType&>(from).unit()) {
        case arrow::TimeUnit::SECOND:
          return Finer<std::int64_t, 1'000'000>;
        case arrow::TimeUnit::MILLI:
          return Finer<std::int64_t, 1'000>;
        case arrow::TimeUnit::MICRO:
          return Retype;
        case arrow::TimeUnit::NANO:
          return Coarser<1'000>;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

CastFunction ToNanos(const arrow::DataType& from) {
  switch (from.id()) {
    case arrow::Type::INT64:
      return Retype;
    case arrow::Type::DATE32:
      return Finer<std::int32_t, kMicrosPerDay * 1'000>;
    case arrow::Type::TIMESTAMP:
      switch (static_cast<const arrow::TimestampType&>(from).unit()) {
        case arrow::TimeUnit::SECOND:
          return Finer<std::int64_t, 1'000'000'000>;
        case arrow::TimeUnit::MILLI:
          return Finer<std::int64_t, 1'000'000>;
        case arrow::TimeUnit::MICRO:
          return Finer<std::int64_t, 1'000>;
        case arrow::TimeUnit::NANO:
          return Retype;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

CastFunction ToTime(const arrow::DataType& from) {
  switch (from.id()) {
    case arrow::Type::INT64:
      return Retype;
    case arrow::Type::TIME32:
      return static_cast<const arrow::Time32Type&>(from).unit() == arrow::TimeUnit::MILLI
                 ? Finer<std::int32_t, 1'000>
                 : Finer<std::int32_t, 1'000'000>;
    case arrow::Type::TIME64:
      return static_cast<const arrow::Time64Type&>(from).unit() == arrow::TimeUnit::MICRO
                 ? static_cast<CastFunction>(Retype)
                 : Coarser<1'000>;
    default:
      return nullptr;
  }
}

CastFunction ToDecimal(const arrow::DataType& from, const Type& to) {
  if (from.id() != arrow::Type::DECIMAL128) return nullptr;
  const auto& decimal = static_cast<const arrow::Decimal128Type&>(from);
  const bool wider = decimal.scale() == to.scale() && decimal.precision() <= to.precision();
  return wider ? static_cast<CastFunction>(Retype) : nullptr;
}

CastFunction Leaf(const arrow::DataType& from, const Type& to) {
  const arrow::Type::type id = from.id();
  switch (to.id()) {
    case TypeId::kBoolean:
      return id == arrow::Type::BOOL ? Retype : nullptr;
    case TypeId::kInt:
    case TypeId::kDate:
      return ToInt32(from);
    case TypeId::kLong:
      return ToInt64(from);
    case TypeId::kFloat:
      return id == arrow::Type::FLOAT ? Retype : nullptr;
    case TypeId::kDouble:
      if (id == arrow::Type::FLOAT) return FloatToDouble;
      return id == arrow::Type::DOUBLE ? Retype : nullptr;
    case TypeId::kDecimal:
      return ToDecimal(from, to);
    case TypeId::kTime:
      return ToTime(from);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return ToMicros(from);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return ToNanos(from);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return id == arrow::Type::STRING || id == arrow::Type::BINARY ? Retype : nullptr;
    case TypeId::kUuid:
    case TypeId::kFixed: {
      const int length = to.id() == TypeId::kUuid ? 16 : to.length();
      if (id == arrow::Type::BINARY && length > 0) return BinaryToFixed;
      return id == arrow::Type::FIXED_SIZE_BINARY &&
                     static_cast<const arrow::FixedSizeBinaryType&>(from).byte_width() == length
                 ? Retype
                 : nullptr;
    }
    default:
      return nullptr;
  }
}

std::int64_t IntegerOf(const Literal& value) {
  const auto* narrow = std::get_if<std::int32_t>(&value);
  return narrow != nullptr ? *narrow : std::get<std::int64_t>(value);
}

/// A date that became a timestamp since its partition was written: `day` is one day in the new
/// unit.
std::int64_t TimestampOf(const Literal& value, std::int64_t day) {
  const auto* days = std::get_if<std::int32_t>(&value);
  return days != nullptr ? *days * day : std::get<std::int64_t>(value);
}

/// Precondition: the literal holds what the type asks for, or a narrower number.
std::shared_ptr<arrow::Scalar> ScalarOf(const Type& type, const TypePtr& to, const Literal& value) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return std::make_shared<arrow::BooleanScalar>(std::get<bool>(value));
    case TypeId::kInt:
      return std::make_shared<arrow::Int32Scalar>(std::get<std::int32_t>(value));
    case TypeId::kDate:
      return std::make_shared<arrow::Date32Scalar>(std::get<std::int32_t>(value));
    case TypeId::kLong:
      return std::make_shared<arrow::Int64Scalar>(IntegerOf(value));
    case TypeId::kTime:
      return std::make_shared<arrow::Time64Scalar>(IntegerOf(value), to);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return std::make_shared<arrow::TimestampScalar>(TimestampOf(value, kMicrosPerDay), to);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return std::make_shared<arrow::TimestampScalar>(TimestampOf(value, kMicrosPerDay * 1'000),
                                                      to);
    case TypeId::kFloat:
      return std::make_shared<arrow::FloatScalar>(std::get<float>(value));
    case TypeId::kDouble: {
      const auto* narrow = std::get_if<float>(&value);
      return std::make_shared<arrow::DoubleScalar>(narrow != nullptr ? *narrow
                                                                     : std::get<double>(value));
    }
    case TypeId::kDecimal: {
      const Int128 v = std::get<Int128>(value);
      return std::make_shared<arrow::Decimal128Scalar>(
          arrow::Decimal128(static_cast<std::int64_t>(v >> 64), static_cast<std::uint64_t>(v)), to);
    }
    case TypeId::kString:
      return std::make_shared<arrow::StringScalar>(std::get<std::string>(value));
    case TypeId::kUuid:
    case TypeId::kFixed:
      return std::make_shared<arrow::FixedSizeBinaryScalar>(
          arrow::Buffer::FromString(std::get<std::string>(value)), to);
    default:
      return std::make_shared<arrow::BinaryScalar>(
          arrow::Buffer::FromString(std::get<std::string>(value)));
  }
}

}  // namespace

Result<ArrayCast> CastFor(const arrow::DataType& from, const Type& to) {
  if (from.id() == arrow::Type::NA) return ArrayCast{AllNull};
  if (const CastFunction cast = Leaf(from, to)) return ArrayCast{cast};
  return Error(Code::kUnsupported,
               "the file stores " + from.ToString() + " where the table has " + to.ToString());
}

Result<DataPtr> ConstantArray(const Type& type, const TypePtr& to, const Literal& value,
                              std::int64_t length, arrow::MemoryPool* pool) {
  if (IsNull(value)) {
    IW_ASSIGN(auto array, FromArrow(arrow::MakeArrayOfNull(to, length, pool)));
    return array->data();
  }
  const auto scalar = ScalarOf(type, to, value);
  IW_ASSIGN(auto array, FromArrow(arrow::MakeArrayFromScalar(*scalar, length, pool)));
  return array->data();
}

Result<std::shared_ptr<arrow::Array>> ArrayOf(const Type& type, const TypePtr& to,
                                              std::span<const Literal> values,
                                              arrow::MemoryPool* pool) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  IW_TRY(CheckArrow(arrow::MakeBuilder(pool, to, &builder)));
  IW_TRY(CheckArrow(builder->Reserve(std::ssize(values))));
  for (const Literal& value : values) {
    IW_TRY(CheckArrow(IsNull(value) ? builder->AppendNull()
                                    : builder->AppendScalar(*ScalarOf(type, to, value))));
  }
  return FromArrow(builder->Finish());
}

}  // namespace icewright
