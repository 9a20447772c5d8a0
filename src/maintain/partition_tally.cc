#include "maintain/partition_tally.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "manifest/partition_codec.h"

namespace icewright {
namespace {

using Stats = PartitionStatistics;

std::int64_t Add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

/// How a column is stored, and when a file must have it.
enum class Width : std::uint8_t { kInt, kLong };
enum class Required : std::uint8_t { kAlways, kFromV3, kNever };

struct Column {
  int id;
  std::string_view name;
  Width width;
  Required required;
  std::int64_t Stats::*count = nullptr;  // null for the columns that may be null
};

// In the order of format version 3; the others leave dv_count out.
constexpr Column kColumns[] = {
    {3, "data_record_count", Width::kLong, Required::kAlways, &Stats::data_records},
    {4, "data_file_count", Width::kInt, Required::kAlways, &Stats::data_files},
    {5, "total_data_file_size_in_bytes", Width::kLong, Required::kAlways, &Stats::data_bytes},
    {6, "position_delete_record_count", Width::kLong, Required::kFromV3,
     &Stats::position_delete_records},
    {7, "position_delete_file_count", Width::kInt, Required::kFromV3,
     &Stats::position_delete_files},
    {8, "equality_delete_record_count", Width::kLong, Required::kFromV3,
     &Stats::equality_delete_records},
    {9, "equality_delete_file_count", Width::kInt, Required::kFromV3,
     &Stats::equality_delete_files},
    {10, "total_record_count", Width::kLong, Required::kNever},
    {11, "last_updated_at", Width::kLong, Required::kNever},
    {12, "last_updated_snapshot_id", Width::kLong, Required::kNever},
    {13, "dv_count", Width::kInt, Required::kFromV3, &Stats::dvs},
};
constexpr int kDvCount = 13;
constexpr int kLastUpdatedAt = 11;
constexpr int kLastUpdatedSnapshotId = 12;

bool InVersion(const Column& column, int format_version) {
  return column.id != kDvCount || format_version >= 3;
}

Schema SchemaFor(const Type& partition_type, int format_version, bool lenient) {
  std::vector<Field> fields = {
      {.id = FieldId{1}, .name = "partition", .required = true, .type = partition_type},
      {.id = FieldId{2}, .name = "spec_id", .required = !lenient, .type = Type::Of(TypeId::kInt)}};
  for (const Column& column : kColumns) {
    if (!InVersion(column, format_version)) continue;
    const bool required = column.required == Required::kAlways ||
                          (column.required == Required::kFromV3 && format_version >= 3);
    fields.push_back(
        {.id = FieldId{column.id},
         .name = std::string(column.name),
         .required = required && !lenient,
         .type = Type::Of(column.width == Width::kInt ? TypeId::kInt : TypeId::kLong)});
  }
  return Schema(std::move(fields));
}

void Touch(Stats& stats, const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  const std::int64_t at = ToMillis(snapshot->timestamp);
  if (stats.last_updated_ms && *stats.last_updated_ms >= at) return;
  stats.last_updated_ms = at;
  stats.last_updated_by = snapshot->id;
}

void Count(Stats& stats, const DataFile& file, int sign) {
  const auto add = [sign](std::int64_t& count, std::int64_t n) {
    count = Add(count, sign * std::max<std::int64_t>(n, 0));
  };
  switch (file.content) {
    case FileContent::kData:
      add(stats.data_records, file.record_count);
      add(stats.data_files, 1);
      add(stats.data_bytes, file.file_size_in_bytes);
      return;
    case FileContent::kPositionDeletes:
      add(stats.position_delete_records, file.record_count);
      add(file.is_deletion_vector() ? stats.dvs : stats.position_delete_files, 1);
      return;
    case FileContent::kEqualityDeletes:
      add(stats.equality_delete_records, file.record_count);
      add(stats.equality_delete_files, 1);
  }
}

bool IsVoid(const PartitionField& field) {
  return field.transform.kind() == Transform::Kind::kVoid;
}

/// The value of a column that may be null. total_record_count always is, as in Java: it would take
/// reading the rows.
Literal NullableValue(const Stats& stats, int id) {
  if (id == kLastUpdatedAt && stats.last_updated_ms) return *stats.last_updated_ms;
  if (id == kLastUpdatedSnapshotId && stats.last_updated_by) return Raw(*stats.last_updated_by);
  return {};
}

StructValue RowOf(const StructValue& partition, SpecId spec, const Stats& stats,
                  int format_version) {
  StructValue row = partition;
  row.push_back(static_cast<std::int32_t>(Raw(spec)));
  for (const Column& column : kColumns) {
    if (!InVersion(column, format_version)) continue;
    if (column.count == nullptr) {
      row.push_back(NullableValue(stats, column.id));
    } else if (column.width == Width::kLong) {
      row.push_back(stats.*column.count);
    } else {
      constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
      row.push_back(static_cast<std::int32_t>(std::min(stats.*column.count, kMax)));
    }
  }
  return row;
}

std::optional<std::int64_t> IntegerOf(const Literal& value) {
  if (const auto* narrow = std::get_if<std::int32_t>(&value)) return *narrow;
  if (const auto* wide = std::get_if<std::int64_t>(&value)) return *wide;
  return std::nullopt;
}

/// Nulls first, then by value.
bool ComesBefore(std::span<const Field> fields, const StructValue& a, const StructValue& b) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto order = Compare(fields[i].type, a[i], b[i]);
    if (order != 0) return order < 0;
  }
  return std::get<std::int32_t>(a[fields.size()]) < std::get<std::int32_t>(b[fields.size()]);
}

/// A value of a spec that has lost another source column is of the type it had then.
Literal Widen(const Type& type, const Literal& value) {
  constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
  if (const auto* narrow = std::get_if<std::int32_t>(&value)) {
    switch (type.id()) {
      case TypeId::kLong:
        return std::int64_t{*narrow};
      case TypeId::kTimestamp:
      case TypeId::kTimestampTz:
        return *narrow * kMicrosPerDay;
      default:
        return value;
    }
  }
  const auto* single = std::get_if<float>(&value);
  return single != nullptr && type.id() == TypeId::kDouble ? Literal(double{*single}) : value;
}

}  // namespace

Result<UnifiedPartition> UnifiedPartition::Make(const TableMetadata& metadata) {
  std::map<FieldId, Field> fields;
  std::vector<const PartitionSpec*> newest_first;
  for (const PartitionSpec& spec : metadata.partition_specs) newest_first.push_back(&spec);
  std::ranges::sort(newest_first, [](const auto* a, const auto* b) { return a->id > b->id; });
  std::map<FieldId, bool> is_void;
  for (const PartitionSpec* spec : newest_first) {
    // Only fields whose source the current schema has are left, so it knows their types.
    const Type type = spec->PartitionType(metadata.schema());
    for (std::size_t i = 0; i < spec->fields.size(); ++i) {
      const PartitionField& field = spec->fields[i];
      if (field.transform.kind() == Transform::Kind::kUnknown) {
        return Error(Code::kUnsupported,
                     "partition field '" + field.name + "' has the unknown transform " +
                         field.transform.text() + "; a newer version may know it");
      }
      if (metadata.schema().Find(field.source_id()) == nullptr) continue;
      const auto [it, is_new] = fields.emplace(field.field_id, type.fields()[i]);
      if (is_new) {
        is_void[field.field_id] = IsVoid(field);
      } else if (is_void[field.field_id] && !IsVoid(field)) {
        // A field that v1 dropped: the newest name, and the type it had.
        it->second.type = type.fields()[i].type;
        is_void[field.field_id] = false;
      }
    }
  }
  UnifiedPartition out;
  std::vector<Field> columns;
  for (auto& [id, field] : fields) columns.push_back(std::move(field));
  for (const PartitionSpec* spec : newest_first) {
    auto& positions = out.positions_[spec->id];
    for (const Field& column : columns) {
      const auto it = std::ranges::find(spec->fields, column.id, &PartitionField::field_id);
      positions.push_back(it == spec->fields.end()
                              ? std::nullopt
                              : std::optional<std::size_t>(it - spec->fields.begin()));
    }
  }
  out.type_ = Type::Struct(std::move(columns));
  return out;
}

Result<StructValue> UnifiedPartition::Unify(SpecId spec, const StructValue& partition) const {
  const auto found = positions_.find(spec);
  if (found == positions_.end()) {
    return Error(Code::kCorrupt, "the table has no partition spec " + ToString(spec));
  }
  StructValue out;
  out.reserve(found->second.size());
  for (const std::optional<std::size_t>& position : found->second) {
    if (!position) {
      out.emplace_back();
    } else if (*position < partition.size()) {
      out.push_back(Widen(type_.fields()[out.size()].type, partition[*position]));
    } else {
      return Error(Code::kCorrupt, "a partition tuple is shorter than its spec");
    }
  }
  if (const Status fits = manifest_internal::CheckPartition(type_, out); !fits) {
    return Error(Code::kCorrupt, fits.error().message());
  }
  return out;
}

Stats& PartitionTally::At(SpecId spec, StructValue&& partition) {
  return by_spec_[spec].try_emplace(std::move(partition)).first->second;
}

void PartitionTally::AddLive(const DataFile& file, StructValue partition,
                             const Snapshot* snapshot) {
  Stats& stats = At(file.spec_id, std::move(partition));
  Count(stats, file, +1);
  Touch(stats, snapshot);
}

void PartitionTally::AddDeleted(const DataFile& file, StructValue partition,
                                const Snapshot* snapshot) {
  Touch(At(file.spec_id, std::move(partition)), snapshot);
}

void PartitionTally::Remove(const DataFile& file, StructValue partition, const Snapshot* snapshot) {
  Stats& stats = At(file.spec_id, std::move(partition));
  Count(stats, file, -1);
  Touch(stats, snapshot);
}

void PartitionTally::Merge(SpecId spec, StructValue partition, const Stats& from) {
  Stats& stats = At(spec, std::move(partition));
  for (const Column& column : kColumns) {
    if (column.count != nullptr) {
      stats.*column.count = Add(stats.*column.count, from.*column.count);
    }
  }
  if (from.last_updated_ms && stats.last_updated_ms.value_or(-1) < *from.last_updated_ms) {
    stats.last_updated_ms = from.last_updated_ms;
    stats.last_updated_by = from.last_updated_by;
  }
}

void PartitionTally::Merge(PartitionTally&& other) {
  for (auto& [spec, rows] : other.by_spec_) {
    while (!rows.empty()) {
      auto row = rows.extract(rows.begin());
      Merge(spec, std::move(row.key()), row.mapped());
    }
  }
}

std::size_t PartitionTally::size() const {
  std::size_t size = 0;
  for (const auto& [spec, rows] : by_spec_) size += rows.size();
  return size;
}

std::optional<PartitionTally::Totals> PartitionTally::Sum() const {
  Totals out;
  for (const auto& [spec, rows] : by_spec_) {
    for (const auto& [partition, stats] : rows) {
      for (const Column& column : kColumns) {
        if (column.count != nullptr && stats.*column.count < 0) return std::nullopt;
      }
      out.data_files = Add(out.data_files, stats.data_files);
      out.data_records = Add(out.data_records, stats.data_records);
      for (const std::int64_t files :
           {stats.position_delete_files, stats.dvs, stats.equality_delete_files}) {
        out.delete_files = Add(out.delete_files, files);
      }
    }
  }
  return out;
}

Schema PartitionStatisticsSchema(const Type& partition_type, int format_version) {
  return SchemaFor(partition_type, format_version, false);
}

Schema LenientPartitionStatisticsSchema(const Type& partition_type) {
  return SchemaFor(partition_type, 3, true);
}

std::vector<StructValue> RowsOf(const PartitionTally& tally, const Type& partition_type,
                                int format_version) {
  std::vector<StructValue> rows;
  rows.reserve(tally.size());
  for (const auto& [spec, partitions] : tally.by_spec()) {
    for (const auto& [partition, stats] : partitions) {
      rows.push_back(RowOf(partition, spec, stats, format_version));
    }
  }
  std::ranges::sort(rows, [&](const StructValue& a, const StructValue& b) {
    return ComesBefore(partition_type.fields(), a, b);
  });
  return rows;
}

Status AddRow(StructValue row, const Type& partition_type, PartitionTally& tally) {
  const std::size_t fields = partition_type.fields().size();
  const auto spec = IntegerOf(row[fields]);
  if (!spec) return Error(Code::kCorrupt, "partition statistics without spec_id");
  Stats stats;
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    const Column& column = kColumns[i];
    const auto value = IntegerOf(row[fields + 1 + i]);
    if (column.count != nullptr) {
      if (!value && column.required == Required::kAlways) {
        return Error(Code::kCorrupt, "partition statistics without " + std::string(column.name));
      }
      stats.*column.count = value.value_or(0);
    } else if (column.id == kLastUpdatedAt) {
      stats.last_updated_ms = value;
    } else if (column.id == kLastUpdatedSnapshotId && value) {
      stats.last_updated_by = SnapshotId{*value};
    }
  }
  row.resize(fields);
  tally.Merge(SpecId{static_cast<std::int32_t>(*spec)}, std::move(row), stats);
  return {};
}

}  // namespace icewright
