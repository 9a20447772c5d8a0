#pragma once

/// \file data/key_set.h
/// Deleted keys with the newest sequence number that deletes them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/memory_budget.h"
#include "base/result.h"

namespace icewright {

/// Integer keys, open addressing. Readers may share it while nobody adds.
class IntegerKeySet {
 public:
  explicit IntegerKeySet(MemoryBudget& budget) : budget_(budget) {}

  static std::uint64_t Hash(std::int64_t key);

  /// Errors: kExhausted.
  Status Add(std::int64_t key, SequenceNumber sequence_number);

  /// True if the key is deleted by a sequence number above this one.
  bool Deletes(std::int64_t key, SequenceNumber sequence_number) const;

  /// Fetches into the cache what a look-up of the key will read: tables are larger than caches.
  void Prefetch(std::int64_t key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[Hash(key) & (slots_.size() - 1)]);
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::int64_t key;
    std::int64_t sequence_number;  // kFree: no key here
  };
  static constexpr std::int64_t kFree = -1;
  std::size_t Find(std::int64_t key) const;
  Status Grow();

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

  /// `hash`: of the key. Errors: kExhausted.
  Status Add(ByteView key, std::uint64_t hash, SequenceNumber sequence_number);
  bool Deletes(ByteView key, std::uint64_t hash, SequenceNumber sequence_number) const;
  void Prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t hash;
    std::size_t offset;            // of the key's length and bytes in arena_
    std::int64_t sequence_number;  // kFree: no key here
  };
  static constexpr std::int64_t kFree = -1;
  std::size_t Find(ByteView key, std::uint64_t hash) const;
  bool Holds(const Slot& slot, ByteView key) const;
  Status Grow();
  Status ReserveArena(std::size_t more);

  MemoryBudget& budget_;
  Reservation table_memory_;
  Reservation arena_memory_;
  std::vector<Slot> slots_;
  Bytes arena_;
  std::size_t size_ = 0;
};

}  // namespace icewright
