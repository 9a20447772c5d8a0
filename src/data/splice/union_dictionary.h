#pragma once

/// \file data/splice/union_dictionary.h
/// One dictionary out of many.

#include <cstdint>
#include <vector>

#include "data/splice/scratch.h"

namespace icewright::splice {

/// Distinct PLAIN values (byte arrays with their lengths) in order of first appearance.
/// Single-threaded.
class UnionDictionary {
 public:
  void Clear();
  std::uint32_t size() const { return static_cast<std::uint32_t>(hashes_.size()); }
  ByteView body() const { return body_.view(); }

  /// Maps the values of a dictionary to their indices here and adds what is new, as long as the
  /// body stays within `byte_limit`; else leaves everything as it was and returns false. `closed`:
  /// nothing may be added. `offsets`: from PlainOffsets; kSlack bytes are readable behind `body`.
  bool Add(ByteView body, const std::vector<std::uint32_t>& offsets, std::size_t byte_limit,
           bool closed, std::vector<std::uint32_t>& map);

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t index = 0;  // counted from one; 0: free
  };
  std::size_t Find(std::uint32_t hash, ByteView value) const;
  bool Same(std::uint32_t index, ByteView value) const;
  void Rehash(std::size_t slots);
  void Undo(std::uint32_t size, std::size_t bytes);

  Scratch body_;
  std::vector<std::uint32_t> offsets_ = {0};
  std::vector<std::uint32_t> hashes_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace icewright::splice
