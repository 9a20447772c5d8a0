#include "data/splice/facts.h"

#include "data/bounds.h"
#include "data/splice/values.h"
#include "table/literal.h"

namespace icewright::splice {
namespace {

bool IsFloat(const Field& field) {
  return field.type.id() == TypeId::kFloat || field.type.id() == TypeId::kDouble;
}

Int128 FromBigEndian(ByteView value) {
  UInt128 out = !value.empty() && (value[0] & 0x80) != 0 ? ~UInt128{0} : UInt128{0};
  for (const char byte : value) out = out << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<Int128>(out);
}

Literal DecimalOf(const Leaf& leaf, ByteView value) {
  if (leaf.type == Physical::kInt32) return Int128{LoadLittle<std::int32_t>(value.data())};
  if (leaf.type == Physical::kInt64) return Int128{LoadLittle<std::int64_t>(value.data())};
  return FromBigEndian(value);
}

std::optional<Literal> FromManifest(const Field& field, const ColumnBounds& bounds) {
  const Bytes* bytes = FindColumn(bounds, field.id);
  if (bytes == nullptr) return {};
  auto literal = FromBytes(field.type, *bytes);
  return literal ? std::optional(std::move(*literal)) : std::nullopt;
}

bool IsText(const Type& type) {
  return type.id() == TypeId::kString || type.id() == TypeId::kBinary ||
         type.id() == TypeId::kFixed;
}

}  // namespace

std::optional<Literal> LiteralOf(const Field& field, const Leaf& leaf, ByteView value) {
  if (!HasWidth(leaf, value)) return {};
  if (field.type.id() == TypeId::kDecimal) return DecimalOf(leaf, value);
  auto literal = FromBytes(field.type, value);
  return literal ? std::optional(std::move(*literal)) : std::nullopt;
}

void ColumnFacts::AddBounds(const Field& field, const Literal& lower,
                            const std::optional<Literal>& upper) {
  if (!lower_ || Compare(field.type, lower, *lower_) < 0) lower_ = lower;
  if (!upper) {
    upper_lost_ = true;
  } else if (!upper_ || Compare(field.type, *upper, *upper_) > 0) {
    upper_ = *upper;
  }
}

void ColumnFacts::Add(const Field& field, const Source& source) {
  const std::int64_t values = source.values_out();
  values_ += values;
  if (const auto nulls = source.nulls_out()) {
    nulls_ += *nulls;
  } else {
    nulls_known_ = false;
  }
  if (source.metrics != nullptr) {
    const std::int64_t* nans = FindColumn(source.metrics->nan_value_counts, field.id);
    nans_ += nans == nullptr ? 0 : *nans;
    if (const auto lower = FromManifest(field, source.metrics->lower_bounds)) {
      AddBounds(field, *lower, FromManifest(field, source.metrics->upper_bounds));
    }
    return;
  }
  nans_ += source.nans;
  if (source.nulls_out() == values) return;
  const OwnedStatistics& statistics = source.statistics;
  const auto lower =
      statistics.min ? LiteralOf(field, *source.out_leaf, *statistics.min) : std::nullopt;
  const auto upper =
      statistics.max ? LiteralOf(field, *source.out_leaf, *statistics.max) : std::nullopt;
  if (lower && upper) {
    AddBounds(field, *lower, upper);
  } else if (values > 0) {
    bounds_known_ = false;
  }
}

void ColumnFacts::Add(const Field& field, const ColumnFacts& other) {
  values_ += other.values_;
  nulls_ += other.nulls_;
  nans_ += other.nans_;
  nulls_known_ = nulls_known_ && other.nulls_known_;
  bounds_known_ = bounds_known_ && other.bounds_known_;
  upper_lost_ = upper_lost_ || other.upper_lost_;
  if (other.lower_) AddBounds(field, *other.lower_, other.upper_);
}

void ColumnFacts::Finish(const Field& field, const MetricsMode& mode, DataFile& file) const {
  if (!mode.counts()) return;
  file.value_counts.emplace_back(field.id, values_);
  if (nulls_known_) file.null_value_counts.emplace_back(field.id, nulls_);
  if (IsFloat(field)) file.nan_value_counts.emplace_back(field.id, nans_);
  const TypeId id = field.type.id();
  if (!mode.bounds() || id == TypeId::kGeometry || id == TypeId::kGeography) return;
  if (!bounds_known_ || !lower_) return;
  const bool text = IsText(field.type);
  const Bytes lower = ToBytes(field.type, *lower_);
  file.lower_bounds.emplace_back(
      field.id, text ? TruncatedLowerBound(field.type, lower, mode.limit()) : lower);
  if (upper_lost_ || !upper_) return;
  const Bytes upper = ToBytes(field.type, *upper_);
  const std::optional<Bytes> cut =
      text ? TruncatedUpperBound(field.type, upper, mode.limit()) : upper;
  if (cut) file.upper_bounds.emplace_back(field.id, *cut);
}

}  // namespace icewright::splice
