#include "data/location_provider.h"

#include <fmt/format.h>

#include <bit>

#include "base/bytes.h"

namespace icewright {
namespace {

std::string WithoutTrailingSlashes(std::string text) {
  while (text.size() > 1 && text.ends_with('/') && !text.ends_with("://")) text.pop_back();
  return text;
}

std::string FirstProperty(const TableMetadata& metadata,
                          std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto value = metadata.Property(key))
      return WithoutTrailingSlashes(std::string(*value));
  }
  return WithoutTrailingSlashes(metadata.location.text()) + "/data";
}

std::uint32_t MixBlock(std::uint32_t k) { return std::rotl(k * 0xcc9e2d51U, 15) * 0x1b873593U; }

// MurmurHash3, x86, 32 bits, seed 0: what Java hashes file names with.
std::uint32_t Murmur3(std::string_view text) {
  std::uint32_t h = 0;
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    h = std::rotl(h ^ MixBlock(LoadLittle<std::uint32_t>(text.data() + i)), 13) * 5 + 0xe6546b64U;
  }
  std::uint32_t tail = 0;
  for (std::size_t j = text.size(); j > i; --j) {
    tail = (tail << 8) | static_cast<unsigned char>(text[j - 1]);
  }
  h ^= MixBlock(tail);
  h ^= static_cast<std::uint32_t>(text.size());
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

// The last 20 bits of the hash as folders of 4, 4, 4 and 8 binary digits.
std::string HashFolders(std::string_view name) {
  const std::uint32_t hash = Murmur3(name);
  std::string out;
  for (int bit = 19; bit >= 0; --bit) {
    out += ((hash >> bit) & 1U) != 0 ? '1' : '0';
    if (bit == 16 || bit == 12 || bit == 8) out += '/';
  }
  return out;
}

// "s3://bucket/db/table" -> "db/table"
std::string PathContext(const std::string& location) {
  const std::string path = WithoutTrailingSlashes(location);
  const std::size_t last = path.rfind('/');
  if (last == std::string::npos || last == 0) return path.substr(last == 0 ? 1 : 0);
  const std::size_t before = path.rfind('/', last - 1);
  return path.substr(before == std::string::npos ? 0 : before + 1);
}

std::string ExtensionOf(FileFormat format) {
  switch (format) {
    case FileFormat::kAvro:
      return "avro";
    case FileFormat::kParquet:
      return "parquet";
    case FileFormat::kOrc:
      return "orc";
    case FileFormat::kPuffin:
      return "puffin";
  }
  return {};
}

}  // namespace

LocationProvider::LocationProvider(const TableMetadata& metadata)
    : object_storage_(BoolProperty(metadata.properties, "write.object-storage.enabled", false)),
      partitioned_paths_(
          BoolProperty(metadata.properties, "write.object-storage.partitioned-paths", true)),
      foreign_provider_(metadata.Property("write.location-provider.impl").has_value()) {
  if (!object_storage_) {
    storage_ = FirstProperty(metadata, {"write.data.path", "write.folder-storage.path"});
    return;
  }
  storage_ = FirstProperty(
      metadata, {"write.data.path", "write.object-storage.path", "write.folder-storage.path"});
  if (!storage_.starts_with(metadata.location.text())) {
    context_ = PathContext(metadata.location.text());
  }
}

Location LocationProvider::NewDataLocation(std::string_view partition_path,
                                           std::string_view file_name) const {
  std::string name;
  if (!partition_path.empty() && (!object_storage_ || partitioned_paths_)) {
    name.append(partition_path).append("/");
  }
  name += file_name;
  if (!object_storage_) return Location(storage_ + "/" + name);
  const std::string folder = storage_ + "/" + HashFolders(name);
  if (!context_.empty()) return Location(folder + "/" + context_ + "/" + name);
  return Location(folder + (partitioned_paths_ ? "/" : "-") + name);
}

FileNames::FileNames(std::string operation_id, FileFormat format)
    : operation_id_(std::move(operation_id)), extension_(ExtensionOf(format)) {}

std::string FileNames::Next(int partition_id, std::int64_t task_id) {
  const int count = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  return fmt::format("{:05d}-{}-{}-{:05d}.{}", partition_id, task_id, operation_id_, count,
                     extension_);
}

}  // namespace icewright
