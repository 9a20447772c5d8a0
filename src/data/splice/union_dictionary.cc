#include "data/splice/union_dictionary.h"

#include <algorithm>
#include <array>

namespace icewright::splice {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;

std::uint64_t Mix(std::uint64_t x) {
  x *= kFactor;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93U;
  return x ^ (x >> 29);
}

// Reads whole words, of which the last may reach into the slack.
std::uint32_t HashOf(ByteView value) {
  std::uint64_t hash = value.size() * kFactor;
  std::size_t at = 0;
  for (; at + 8 <= value.size(); at += 8) {
    hash = Mix(hash ^ LoadLittle<std::uint64_t>(value.data() + at));
  }
  if (const std::size_t rest = value.size() - at; rest > 0) {
    const std::uint64_t word = LoadLittle<std::uint64_t>(value.data() + at);
    hash = Mix(hash ^ (word & ((std::uint64_t{1} << (8 * rest)) - 1)));
  }
  return static_cast<std::uint32_t>(hash >> 8);
}

}  // namespace

void UnionDictionary::Clear() {
  body_.Clear();
  offsets_.assign(1, 0);
  hashes_.clear();
  slots_.assign(std::max(slots_.size(), kFirstSlots), Slot{});
  mask_ = slots_.size() - 1;
}

bool UnionDictionary::Same(std::uint32_t index, ByteView value) const {
  const std::size_t size = offsets_[index + 1] - offsets_[index];
  return size == value.size() &&
         std::memcmp(body_.data() + offsets_[index], value.data(), size) == 0;
}

std::size_t UnionDictionary::Find(std::uint32_t hash, ByteView value) const {
  std::size_t at = hash & mask_;
  while (slots_[at].index != 0 && !(slots_[at].hash == hash && Same(slots_[at].index - 1, value))) {
    at = (at + 1) & mask_;
  }
  return at;
}

bool UnionDictionary::Add(ByteView body, const std::vector<std::uint32_t>& offsets,
                          std::size_t byte_limit, bool closed, std::vector<std::uint32_t>& map) {
  const auto count = static_cast<std::uint32_t>(offsets.size() - 1);
  const std::uint32_t old_size = size();
  const std::size_t old_bytes = body_.size();
  map.resize(count);
  const auto value_at = [&](std::uint32_t i) {
    return body.substr(offsets[i], offsets[i + 1] - offsets[i]);
  };
  // Hashes first, so that the look-ups of a batch miss the cache together.
  constexpr std::uint32_t kBatch = 32;
  std::array<std::uint32_t, kBatch> hashes;
  for (std::uint32_t from = 0; from < count; from += kBatch) {
    const std::uint32_t batch = std::min(kBatch, count - from);
    for (std::uint32_t k = 0; k < batch; ++k) {
      hashes[k] = HashOf(value_at(from + k));
      __builtin_prefetch(&slots_[hashes[k] & mask_]);
    }
    for (std::uint32_t k = 0; k < batch; ++k) {
      const ByteView value = value_at(from + k);
      const std::size_t at = Find(hashes[k], value);
      if (slots_[at].index != 0) {
        map[from + k] = slots_[at].index - 1;
        continue;
      }
      if (closed || body_.size() + value.size() > byte_limit) {
        Undo(old_size, old_bytes);
        return false;
      }
      map[from + k] = size();
      slots_[at] = {hashes[k], size() + 1};
      hashes_.push_back(hashes[k]);
      body_.Append(value);
      offsets_.push_back(static_cast<std::uint32_t>(body_.size()));
      if (hashes_.size() * 2 > slots_.size()) Rehash(slots_.size() * 4);
    }
  }
  return true;
}

void UnionDictionary::Rehash(std::size_t slots) {
  slots_.assign(slots, Slot{});
  mask_ = slots - 1;
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::size_t at = hashes_[i] & mask_;
    while (slots_[at].index != 0) at = (at + 1) & mask_;
    slots_[at] = {hashes_[i], i + 1};
  }
}

// The newest entries are the last of their probe chains: they come out in reverse order.
void UnionDictionary::Undo(std::uint32_t size_before, std::size_t bytes_before) {
  while (size() > size_before) {
    std::size_t at = hashes_.back() & mask_;
    while (slots_[at].index != size()) at = (at + 1) & mask_;
    slots_[at] = Slot{};
    hashes_.pop_back();
    offsets_.pop_back();
  }
  body_.Resize(bytes_before);
}

}  // namespace icewright::splice
