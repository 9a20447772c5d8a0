#include "table/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace icewright {
namespace {

constexpr std::string_view kEncryptionKeyProperty = "encryption.key-id";

template <typename T, typename Id>
const T* FindById(const std::vector<T>& items, Id id) {
  const auto it =
      std::find_if(items.begin(), items.end(), [id](const T& item) { return item.id == id; });
  return it == items.end() ? nullptr : &*it;
}

/// All digits of `text`, or unset.
std::optional<int> Digits(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || text.front() == '-') return {};
  return value;
}

/// Takes `suffix` off the end, if it is there.
bool ConsumeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

template <typename T>
Result<T> NumberProperty(const Properties& properties, std::string_view key, T default_value,
                         std::string_view what) {
  const auto it = properties.find(std::string(key));
  if (it == properties.end()) return default_value;
  std::string_view text = it->second;
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("property {}: \"{}\" is not {}", key, it->second, what));
  }
  return value;
}

}  // namespace

const Schema& TableMetadata::schema() const { return *FindSchema(current_schema_id); }
const PartitionSpec& TableMetadata::default_spec() const { return *FindSpec(default_spec_id); }
const SortOrder& TableMetadata::default_sort_order() const {
  return *FindSortOrder(default_sort_order_id);
}

const Schema* TableMetadata::FindSchema(SchemaId id) const {
  const auto it = std::find_if(schemas.begin(), schemas.end(),
                               [id](const Schema& schema) { return schema.id() == id; });
  return it == schemas.end() ? nullptr : &*it;
}

const PartitionSpec* TableMetadata::FindSpec(SpecId id) const {
  return FindById(partition_specs, id);
}

const SortOrder* TableMetadata::FindSortOrder(SortOrderId id) const {
  return FindById(sort_orders, id);
}

const Snapshot* TableMetadata::FindSnapshot(SnapshotId id) const { return FindById(snapshots, id); }

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id ? FindSnapshot(*current_snapshot_id) : nullptr;
}

const Snapshot* TableMetadata::FindRef(std::string_view name) const {
  const auto it = refs.find(name);
  return it == refs.end() ? nullptr : FindSnapshot(it->second.snapshot_id);
}

const Schema& TableMetadata::SchemaOf(const Snapshot& snapshot) const {
  const Schema* own = snapshot.schema_id ? FindSchema(*snapshot.schema_id) : nullptr;
  return own == nullptr ? schema() : *own;
}

std::optional<std::string_view> TableMetadata::Property(std::string_view key) const {
  const auto it = properties.find(std::string(key));
  if (it == properties.end()) return {};
  return it->second;
}

bool TableMetadata::is_encrypted() const {
  return properties.contains(std::string(kEncryptionKeyProperty)) ||
         (!encryption_keys.empty() && encryption_keys != "[]");
}

SnapshotIndex::SnapshotIndex(const TableMetadata& metadata) {
  by_id_.reserve(metadata.snapshots.size());
  for (const Snapshot& snapshot : metadata.snapshots) by_id_.emplace(Raw(snapshot.id), &snapshot);
}

const Snapshot* SnapshotIndex::Find(SnapshotId id) const {
  const auto it = by_id_.find(Raw(id));
  return it == by_id_.end() ? nullptr : it->second;
}

const Snapshot* SnapshotIndex::ParentOf(const Snapshot& snapshot) const {
  return snapshot.parent_id ? Find(*snapshot.parent_id) : nullptr;
}

std::optional<int> MetadataVersionOf(std::string_view file_name) {
  // Hadoop's older versions put ".gz" last.
  const bool gzip_last = ConsumeSuffix(file_name, ".gz");
  if (!ConsumeSuffix(file_name, ".metadata.json")) return {};
  if (!gzip_last) ConsumeSuffix(file_name, ".gz");
  if (file_name.starts_with('v')) {
    file_name.remove_prefix(1);
    return file_name.empty() ? std::nullopt : Digits(file_name);
  }
  const std::size_t dash = file_name.find('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == file_name.size()) return {};
  return Digits(file_name.substr(0, dash));
}

Location WithoutTrailingSlash(const Location& location) {
  std::string text = location.text();
  while (text.size() > 1 && text.ends_with('/') && !text.ends_with("://")) text.pop_back();
  return Location(std::move(text));
}

Result<std::int64_t> IntProperty(const Properties& properties, std::string_view key,
                                 std::int64_t default_value) {
  return NumberProperty(properties, key, default_value, "an integer");
}

Result<double> DoubleProperty(const Properties& properties, std::string_view key,
                              double default_value) {
  return NumberProperty(properties, key, default_value, "a number");
}

bool BoolProperty(const Properties& properties, std::string_view key, bool default_value) {
  const auto it = properties.find(std::string(key));
  if (it == properties.end()) return default_value;
  constexpr std::string_view kTrue = "true";
  return std::equal(it->second.begin(), it->second.end(), kTrue.begin(), kTrue.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

std::string StringProperty(const Properties& properties, std::string_view key,
                           std::string_view default_value) {
  const auto it = properties.find(std::string(key));
  return it == properties.end() ? std::string(default_value) : it->second;
}

}  // namespace icewright
