#pragma once

/// \file base/random.h
/// Randomness, injected: UUIDs, snapshot ids and retry jitter come from here.

#include <cstdint>
#include <mutex>
#include <random>
#include <string>

namespace icewright {

/// Thread-safe.
class Random {
 public:
  /// Seeded by the machine.
  Random();
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t Next();

  /// A random (version 4) UUID in its 36-character form.
  std::string NewUuid();

  /// In [0, 1).
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;  // guarded by mutex_
};

}  // namespace icewright
