#pragma once

/// \file manifest/record_writer.h
/// Writes rows as Avro records of one format version, and makes the schema of those records.

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "codec/avro/coding.h"
#include "codec/json.h"
#include "manifest/columns.h"
#include "table/type.h"

namespace icewright::manifest_internal {

/// Schemas of manifest_entry and manifest_file, named as Java names them.
Json ManifestAvroSchema(int format_version, const Type& partition_type);
Json ManifestListAvroSchema(int format_version);

template <typename T>
requires std::is_enum_v<T>
void WriteValue(avro::Encoder& out, T value) { out.WriteLong(static_cast<std::int64_t>(value)); }
inline void WriteValue(avro::Encoder& out, bool value) { out.WriteBoolean(value); }
inline void WriteValue(avro::Encoder& out, std::int32_t value) { out.WriteInt(value); }
inline void WriteValue(avro::Encoder& out, std::int64_t value) { out.WriteLong(value); }
inline void WriteValue(avro::Encoder& out, const Bytes& value) { out.WriteBytes(value); }
inline void WriteValue(avro::Encoder& out, const Location& value) { out.WriteBytes(value.text()); }
inline void WriteValue(avro::Encoder& out, FileFormat value) { out.WriteBytes(Name(value)); }
void WriteValue(avro::Encoder& out, const PartitionFieldSummary& value);

template <typename K, typename V>
void WriteValue(avro::Encoder& out, const std::pair<K, V>& value) {
  WriteValue(out, value.first);
  WriteValue(out, value.second);
}

template <typename T>
void WriteValue(avro::Encoder& out, const std::vector<T>& values) {
  if (!values.empty()) out.WriteLong(static_cast<std::int64_t>(values.size()));
  for (const T& value : values) WriteValue(out, value);
  out.WriteLong(0);
}

template <typename T>
bool IsAbsent(const T&) {
  return false;
}
template <typename T>
bool IsAbsent(const std::vector<T>& values) {
  return values.empty();
}
template <typename T>
bool IsAbsent(const std::optional<T>& value) {
  return !value.has_value();
}

template <typename T>
const T& ValueOf(const T& value) {
  return value;
}
template <typename T>
const T& ValueOf(const std::optional<T>& value) {
  return *value;
}

/// Writes one column with its union branch. Precondition: a required column has a value.
template <typename T>
void WriteColumn(avro::Encoder& out, In in, const T& value) {
  if (in == In::kOptional) out.WriteLong(IsAbsent(value) ? 0 : 1);
  if (in == In::kRequired || !IsAbsent(value)) WriteValue(out, ValueOf(value));
}

/// One record of a manifest, with this status. Precondition: CheckPartition.
void WriteEntry(avro::Encoder& out, int format_version, const Type& partition_type,
                const ManifestEntry& entry, EntryStatus status);

}  // namespace icewright::manifest_internal
