#pragma once

/// \file data/key_set.h
/// Deleted keys with the newest sequence number that deletes them.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/memory_budget.h"
#include "base/result.h"

namespace icewright {

/// Memory of one key in a table with room for just the right number, without the bytes of a
/// ByteKeySet's key.
inline constexpr std::int64_t kIntegerKeyBytes = 24;
inline constexpr std::int64_t kByteKeyBytes = 40;

/// Where a key's search begins. The low bits of the hash decide: the high ones choose the share
/// (key_share.h).
inline std::size_t PlaceOf(std::uint64_t hash, std::size_t slots) {
  __extension__ using Wide = unsigned __int128;  // -Wpedantic knows no 128-bit integers
  return static_cast<std::size_t>((static_cast<Wide>(std::rotl(hash, 32)) * slots) >> 64);
}

/// Integer keys, open addressing. Readers may share it while nobody adds.
class IntegerKeySet {
 public:
  explicit IntegerKeySet(MemoryBudget& budget) : budget_(budget) {}

  static std::uint64_t Hash(std::int64_t key);

  /// Room for so many keys in all; without it the table doubles, old beside new. Errors:
  /// kExhausted; what is there stays.
  Status Reserve(std::size_t keys);

  /// Errors: kExhausted.
  Status Add(std::int64_t key, SequenceNumber sequence_number);

  /// True if the key is deleted by a sequence number above this one.
  bool Deletes(std::int64_t key, SequenceNumber sequence_number) const;

  std::vector<std::int64_t> Keys() const;

  /// Fetches into the cache what a look-up of the key will read: tables are larger than caches.
  void Prefetch(std::int64_t key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[PlaceOf(Hash(key), slots_.size())]);
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::int64_t key;
    std::int64_t sequence_number;  // kFree: no key here
  };
  static constexpr std::int64_t kFree = -1;
  std::size_t Find(std::int64_t key) const;
  Status MoveTo(std::size_t slots);

  MemoryBudget& budget_;
  Reservation memory_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

/// Keys as bytes: a table of hashes over one arena. Readers may share it while nobody adds.
class ByteKeySet {
 public:
  explicit ByteKeySet(MemoryBudget& budget) : budget_(budget) {}

  static std::uint64_t Hash(ByteView key);

  /// As IntegerKeySet::Reserve; the bytes of the keys come on top.
  Status Reserve(std::size_t keys);

  /// `hash`: of the key. Errors: kExhausted.
  Status Add(ByteView key, std::uint64_t hash, SequenceNumber sequence_number);
  bool Deletes(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) const;
  std::vector<ByteView> Keys() const;
  void Prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[PlaceOf(hash, slots_.size())]);
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash;
    const char* key;               // its length and bytes in arena_
    std::int64_t sequence_number;  // kFree: no key here
  };
  static constexpr std::int64_t kFree = -1;
  std::size_t Find(ByteView key, std::uint64_t hash) const;
  static ByteView KeyOf(const Slot& slot);
  Status MoveTo(std::size_t slots);
  Result<const char*> Store(ByteView key);

  MemoryBudget& budget_;
  Reservation table_memory_;
  Reservation arena_memory_;
  std::vector<Slot> slots_;
  std::deque<Bytes> arena_;  // none is ever moved
  std::size_t size_ = 0;
};

}  // namespace icewright
