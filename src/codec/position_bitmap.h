#pragma once

/// \file codec/position_bitmap.h
/// A set of 64-bit row positions, and its serialised form in deletion vectors.
///
/// Spec: Puffin "deletion-vector-v1"; roaring portable format.   Java twins: RoaringPositionBitmap,
/// BitmapPositionDeleteIndex.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

namespace icewright {

/// Positions in [0, 2^63). Movable, copied with Clone. Single-threaded while it changes.
class PositionBitmap {
 public:
  PositionBitmap();
  PositionBitmap(PositionBitmap&&) noexcept;
  PositionBitmap& operator=(PositionBitmap&&) noexcept;
  ~PositionBitmap();
  PositionBitmap Clone() const;

  /// A negative position names no row and adds nothing.
  void Add(std::int64_t position);
  /// [first, last); an empty or reversed range adds nothing.
  void AddRange(std::int64_t first, std::int64_t last);
  void Merge(const PositionBitmap& other);
  bool Contains(std::int64_t position) const;
  std::int64_t cardinality() const;
  bool empty() const { return cardinality() == 0; }

  /// How many members are in [first, last).
  std::int64_t CountRange(std::int64_t first, std::int64_t last) const;

  /// Ascending.
  void ForEach(const std::function<void(std::int64_t)>& fn) const;

  /// The blob of a `deletion-vector-v1`: length, magic, vector, CRC. Run-optimised; 32-bit bitmaps
  /// without members are left out. Precondition: below 2 GiB, the format's limit.
  Bytes SerializeDeletionVector() const;

  /// Checks length, magic, CRC, the structure of every container (order, overlap, cardinality) and
  /// the total. Errors: kCorrupt.
  static Result<PositionBitmap> ParseDeletionVector(ByteView blob,
                                                    std::int64_t expected_cardinality);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace icewright
