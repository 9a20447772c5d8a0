#include "data/key_set.h"

#include <algorithm>
#include <limits>

namespace icewright {
namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::string_view kHolder = "keys of equality deletes";

/// At most 70 % full.
bool IsFull(std::size_t size, std::size_t slots) { return (size + 1) * 10 > slots * 7; }

__extension__ using Wide = unsigned __int128;  // -Wpedantic knows no 128-bit integers

std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

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
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = Hash(key) & mask;
  while (slots_[i].sequence_number != kFree && slots_[i].key != key) i = (i + 1) & mask;
  return i;
}

Status IntegerKeySet::Add(std::int64_t key, SequenceNumber sequence_number) {
  if (slots_.empty() || IsFull(size_, slots_.size())) IW_TRY(Grow());
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

Status IntegerKeySet::Grow() {
  const std::size_t count = std::max(kFirstSlots, slots_.size() * 2);
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

bool ByteKeySet::Holds(const Slot& slot, ByteView key) const {
  const char* const at = arena_.data() + slot.offset;
  const std::size_t length = LoadLittle<std::uint32_t>(at);
  return ByteView(at + sizeof(std::uint32_t), length) == key;
}

std::size_t ByteKeySet::Find(ByteView key, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].sequence_number != kFree && (slots_[i].hash != hash || !Holds(slots_[i], key))) {
    i = (i + 1) & mask;
  }
  return i;
}

Status ByteKeySet::Add(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) {
  if (key.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Error(Code::kUnsupported, "a delete key of more than 4 GiB");
  }
  if (slots_.empty() || IsFull(size_, slots_.size())) IW_TRY(Grow());
  Slot& slot = slots_[Find(key, hash)];
  if (slot.sequence_number == kFree) {
    IW_TRY(ReserveArena(key.size() + sizeof(std::uint32_t)));
    slot.hash = hash;
    slot.offset = arena_.size();
    AppendLittle(arena_, static_cast<std::uint32_t>(key.size()));
    arena_.append(key);
    ++size_;
  }
  slot.sequence_number = std::max(slot.sequence_number, Raw(sequence_number));
  return {};
}

bool ByteKeySet::Deletes(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) const {
  if (slots_.empty()) return false;
  return slots_[Find(key, hash)].sequence_number > Raw(sequence_number);
}

Status ByteKeySet::Grow() {
  const std::size_t count = std::max(kFirstSlots, slots_.size() * 2);
  IW_ASSIGN(Reservation memory, ReserveSlots<Slot>(budget_, count));
  std::vector<Slot> old(count, Slot{0, 0, kFree});
  old.swap(slots_);
  const std::size_t mask = count - 1;
  for (const Slot& slot : old) {
    if (slot.sequence_number == kFree) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].sequence_number != kFree) i = (i + 1) & mask;
    slots_[i] = slot;
  }
  table_memory_ = std::move(memory);
  return {};
}

Status ByteKeySet::ReserveArena(std::size_t more) {
  if (arena_.size() + more <= arena_.capacity()) return {};
  const std::size_t wanted = std::max<std::size_t>(4096, (arena_.size() + more) * 2);
  IW_ASSIGN(Reservation memory, budget_.Reserve(static_cast<std::int64_t>(wanted), kHolder));
  arena_.reserve(wanted);
  arena_memory_ = std::move(memory);
  return {};
}

}  // namespace icewright
