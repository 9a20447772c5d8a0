#pragma once

/// \file base/ids.h
/// Strong types for Iceberg's numbers: a snapshot id cannot be passed as a sequence number.

#include <cstdint>
#include <string>
#include <type_traits>

namespace icewright {

enum class SnapshotId : std::int64_t {};
enum class SequenceNumber : std::int64_t {};
enum class FieldId : std::int32_t {};
enum class SpecId : std::int32_t {};
enum class SchemaId : std::int32_t {};
enum class SortOrderId : std::int32_t {};

template <typename T>
concept StrongId = std::is_same_v<T, SnapshotId> || std::is_same_v<T, SequenceNumber> ||
    std::is_same_v<T, FieldId> || std::is_same_v<T, SpecId> || std::is_same_v<T, SchemaId> ||
    std::is_same_v<T, SortOrderId>;

/// The number behind an id, for encoding and arithmetic.
template <StrongId T>
constexpr std::underlying_type_t<T> Raw(T id) {
  return static_cast<std::underlying_type_t<T>>(id);
}

template <StrongId T>
std::string ToString(T id) {
  return std::to_string(Raw(id));
}

/// v1 tables and everything written before sequence numbers existed.
inline constexpr SequenceNumber kInitialSequenceNumber{0};

}  // namespace icewright
