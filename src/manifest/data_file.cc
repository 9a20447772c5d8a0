#include "manifest/data_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "table/schema.h"

namespace icewright {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 4> kFormatNames = {"AVRO", "PARQUET", "ORC", "PUFFIN"};

bool EqualsIgnoreCase(std::string_view upper, std::string_view text) {
  return std::ranges::equal(upper, text, [](char a, char b) {
    return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b)));
  });
}

template <typename Columns>
auto FindIn(const Columns& columns, FieldId field) -> decltype(&columns.front().second) {
  const auto it =
      std::ranges::lower_bound(columns, field, {}, [](const auto& c) { return c.first; });
  return it != columns.end() && it->first == field ? &it->second : nullptr;
}

}  // namespace

std::string_view Name(FileFormat format) { return kFormatNames[static_cast<std::size_t>(format)]; }

Result<FileFormat> ParseFileFormat(std::string_view name) {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (EqualsIgnoreCase(kFormatNames[i], name)) return static_cast<FileFormat>(i);
  }
  return Error(Code::kUnsupported, fmt::format("file format '{}' is not known", name));
}

const std::int64_t* FindColumn(const ColumnCounts& counts, FieldId field) {
  return FindIn(counts, field);
}

const Bytes* FindColumn(const ColumnBounds& bounds, FieldId field) { return FindIn(bounds, field); }

void DataFile::DropMetrics() {
  // Assigning fresh values gives the memory back; clear() would keep it.
  column_sizes = {};
  value_counts = {};
  null_value_counts = {};
  nan_value_counts = {};
  lower_bounds = {};
  upper_bounds = {};
}

ContentKey ContentKey::Of(const DataFile& file) {
  ContentKey key{.path = file.file_path};
  if (file.is_deletion_vector()) {
    key.offset = file.content_offset.value_or(-1);
    key.size = file.content_size_in_bytes.value_or(-1);
  }
  return key;
}

std::size_t ContentKeyHash::operator()(const ContentKey& key) const {
  const auto hash =
      HashCombine(std::hash<Location>{}(key.path), std::hash<std::int64_t>{}(key.offset));
  return HashCombine(hash, std::hash<std::int64_t>{}(key.size));
}

std::optional<Location> ReferencedDataFile(const DataFile& delete_file) {
  if (delete_file.content != FileContent::kPositionDeletes) return {};
  if (delete_file.referenced_data_file) return delete_file.referenced_data_file;
  const Bytes* lower = FindColumn(delete_file.lower_bounds, kDeleteFilePathField);
  const Bytes* upper = FindColumn(delete_file.upper_bounds, kDeleteFilePathField);
  // A truncated upper bound is incremented, so equal bounds are the whole path.
  if (lower == nullptr || upper == nullptr || lower->empty() || *lower != *upper) return {};
  return Location(*lower);
}

}  // namespace icewright
