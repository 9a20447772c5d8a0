#pragma once

/// \file codec/theta_sketch.h
/// How many distinct values there are, from a few thousand hashes: the theta sketch in statistics
/// files.
///
/// Spec: Puffin, "apache-datasketches-theta-v1".   Java twins: DataSketches' UpdateSketch, Union
/// and CompactSketch.

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace icewright {

/// Keeps the 4,096 smallest hashes, exactly: a sketch depends on the set of its values alone, not
/// on their order or on how they were split among sketches that are merged. It is what Java's Union
/// returns for the same values. Up to 4,096 distinct values the estimate is exact; beyond, its
/// standard error is 1.6 %. Single-threaded.
class ThetaSketch {
 public:
  /// Of one sketch, at most.
  static constexpr std::int64_t kMaxBytes = std::int64_t{16384} * 8;

  ThetaSketch();

  /// No bytes are no value, as in Java.
  void Update(ByteView value);
  void Merge(const ThetaSketch& other);

  std::int64_t Estimate() const;

  /// Compact and ordered, with the default seed; the bytes that Java writes.
  Bytes Serialize() const;

 private:
  /// The kept hashes, ascending, and the hash that none of them reaches.
  struct Trimmed {
    std::vector<std::uint64_t> hashes;
    std::uint64_t theta;
  };
  Trimmed Trim() const;
  void Add(std::uint64_t hash);
  void Insert(std::uint64_t hash);
  void Grow();
  void Shrink();

  std::uint64_t theta_;               // hashes from here on are dropped
  std::size_t count_ = 0;             // of hashes in the table
  std::vector<std::uint64_t> table_;  // open addressing; 0 is a free slot
};

}  // namespace icewright
