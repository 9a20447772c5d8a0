#pragma once

/// \file data/splice/scratch.h
/// A byte buffer for page kernels: keeps its memory, does not clear it, and has room to overrun.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "base/bytes.h"

namespace icewright::splice {

/// Bytes behind the end of a Scratch or an arena that may be read and written: kernels move whole
/// words.
inline constexpr std::size_t kSlack = 64;

/// Single-threaded.
class Scratch {
 public:
  void Reserve(std::size_t size) {
    if (size + kSlack <= capacity_) return;
    const std::size_t grown = std::max(size + kSlack, capacity_ + capacity_ / 2);
    std::unique_ptr<char[]> bigger(new char[grown]);  // not cleared, unlike make_unique
    if (size_ > 0) std::memcpy(bigger.get(), data_.get(), size_);
    std::memset(bigger.get() + grown - kSlack, 0, kSlack);
    data_ = std::move(bigger);
    capacity_ = grown;
  }

  /// Room for `count` more bytes; their content is undefined.
  char* Grow(std::size_t count) {
    Reserve(size_ + count);
    char* const at = data_.get() + size_;
    size_ += count;
    return at;
  }
  void Append(ByteView bytes) {
    if (!bytes.empty()) std::memcpy(Grow(bytes.size()), bytes.data(), bytes.size());
  }
  void Push(std::uint8_t byte) { *Grow(1) = static_cast<char>(byte); }
  void Clear() { Reserve(size_ = 0); }
  void Resize(std::size_t size) {
    Reserve(size);
    size_ = size;
  }
  /// Gives the memory back.
  void Free() {
    data_.reset();
    size_ = capacity_ = 0;
  }

  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  ByteView view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace icewright::splice
