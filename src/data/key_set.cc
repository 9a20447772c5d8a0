#include "data/key_set.h"

#include <algorithm>
#include <limits>

namespace icewright {
namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kFirstChunk = 4096;
constexpr std::size_t kLargestChunk = 1 << 20;
constexpr std::string_view kHolder = "keys of equality deletes";

/// At most 70 % full.
bool IsFull(std::size_t size, std::size_t slots) { return (size + 1) * 10 > slots * 7; }

__extension__ using Wide = unsigned __int128;  // -Wpedantic knows no 128-bit integers

std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::size_t SlotsFor(std::size_t keys) { return std::max(kFirstSlots, keys * 10 / 7 + 2); }

std::size_t Next(std::size_t i, std::size_t slots) { return i + 1 == slots ? 0 : i + 1; }

/// New memory beside the old while the table moves.
template <typename Slot>
Result<Reservation> ReserveSlots(MemoryBudget& budget, std::size_t slots) {
  return budget.Reserve(static_cast<std::int64_t>(slots * sizeof(Slot)), kHolder);
}

}  // namespace

std::uint64_t IntegerKeySet::Hash(std::int64_t key) {
  return Mix(static_cast<std::uint64_t>(key) ^ 0x9e3779b97f4a7c15ULL, 0xe7037ed1a0b428dbULL);
}

std::size_t IntegerKeySet::Find(std::int64_t key) const {
  const std::size_t count = slots_.size();
  std::size_t i = PlaceOf(Hash(key), count);
  while (slots_[i].sequence_number != kFree && slots_[i].key != key) i = Next(i, count);
  return i;
}

Status IntegerKeySet::Add(std::int64_t key, SequenceNumber sequence_number) {
  if (IsFull(size_, slots_.size())) IW_TRY(MoveTo(std::max(kFirstSlots, slots_.size() * 2)));
  Slot& slot = slots_[Find(key)];
  if (slot.sequence_number == kFree) {
    slot.key = key;
    ++size_;
  }
  slot.sequence_number = std::max(slot.sequence_number, Raw(sequence_number));
  return {};
}

bool IntegerKeySet::Deletes(std::int64_t key, SequenceNumber sequence_number) const {
  if (slots_.empty()) return false;
  return slots_[Find(key)].sequence_number > Raw(sequence_number);
}

std::vector<std::int64_t> IntegerKeySet::Keys() const {
  std::vector<std::int64_t> keys;
  for (const Slot& slot : slots_) {
    if (slot.sequence_number != kFree) keys.push_back(slot.key);
  }
  return keys;
}

Status IntegerKeySet::Reserve(std::size_t keys) {
  return SlotsFor(keys) > slots_.size() ? MoveTo(SlotsFor(keys)) : Status();
}

Status IntegerKeySet::MoveTo(std::size_t count) {
  IW_ASSIGN(Reservation memory, ReserveSlots<Slot>(budget_, count));
  std::vector<Slot> old(count, Slot{0, kFree});
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.sequence_number != kFree) slots_[Find(slot.key)] = slot;
  }
  memory_ = std::move(memory);
  return {};
}

std::uint64_t ByteKeySet::Hash(ByteView key) {
  std::uint64_t hash = 0x2d358dccaa6c78a5ULL ^ key.size();
  const char* p = key.data();
  std::size_t left = key.size();
  for (; left >= 8; left -= 8, p += 8) {
    hash = Mix(hash ^ LoadLittle<std::uint64_t>(p), 0x9e3779b97f4a7c15ULL);
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, p, left);
  return Mix(hash ^ tail, 0xe7037ed1a0b428dbULL);
}

ByteView ByteKeySet::KeyOf(const Slot& slot) {
  return {slot.key + sizeof(std::uint32_t), LoadLittle<std::uint32_t>(slot.key)};
}

std::vector<ByteView> ByteKeySet::Keys() const {
  std::vector<ByteView> keys;
  for (const Slot& slot : slots_) {
    if (slot.sequence_number != kFree) keys.push_back(KeyOf(slot));
  }
  return keys;
}

std::size_t ByteKeySet::Find(ByteView key, std::uint64_t hash) const {
  const std::size_t count = slots_.size();
  std::size_t i = PlaceOf(hash, count);
  while (slots_[i].sequence_number != kFree &&
         (slots_[i].hash != hash || KeyOf(slots_[i]) != key)) {
    i = Next(i, count);
  }
  return i;
}

Status ByteKeySet::Add(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) {
  if (key.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Error(Code::kUnsupported, "a delete key of more than 4 GiB");
  }
  if (IsFull(size_, slots_.size())) IW_TRY(MoveTo(std::max(kFirstSlots, slots_.size() * 2)));
  Slot& slot = slots_[Find(key, hash)];
  if (slot.sequence_number == kFree) {
    IW_ASSIGN(slot.key, Store(key));
    slot.hash = hash;
    ++size_;
  }
  slot.sequence_number = std::max(slot.sequence_number, Raw(sequence_number));
  return {};
}

bool ByteKeySet::Deletes(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) const {
  if (slots_.empty()) return false;
  return slots_[Find(key, hash)].sequence_number > Raw(sequence_number);
}

Status ByteKeySet::Reserve(std::size_t keys) {
  return SlotsFor(keys) > slots_.size() ? MoveTo(SlotsFor(keys)) : Status();
}

Status ByteKeySet::MoveTo(std::size_t count) {
  IW_ASSIGN(Reservation memory, ReserveSlots<Slot>(budget_, count));
  std::vector<Slot> old(count, Slot{0, nullptr, kFree});
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.sequence_number == kFree) continue;
    std::size_t i = PlaceOf(slot.hash, count);
    while (slots_[i].sequence_number != kFree) i = Next(i, count);
    slots_[i] = slot;
  }
  table_memory_ = std::move(memory);
  return {};
}

/// Chunks as large as all before them, up to a limit: a small set stays small.
Result<const char*> ByteKeySet::Store(ByteView key) {
  const std::size_t needed = key.size() + sizeof(std::uint32_t);
  if (arena_.empty() || arena_.back().capacity() - arena_.back().size() < needed) {
    const auto held = static_cast<std::size_t>(arena_memory_.bytes());
    const std::size_t chunk = std::max(std::clamp(held, kFirstChunk, kLargestChunk), needed);
    if (held == 0) {
      IW_ASSIGN(arena_memory_, budget_.Reserve(static_cast<std::int64_t>(chunk), kHolder));
    } else {
      IW_TRY(arena_memory_.Resize(static_cast<std::int64_t>(held + chunk)));
    }
    arena_.emplace_back().reserve(chunk);
  }
  Bytes& chunk = arena_.back();
  const std::size_t at = chunk.size();
  AppendLittle(chunk, static_cast<std::uint32_t>(key.size()));
  chunk.append(key);
  return chunk.data() + at;
}

}  // namespace icewright
