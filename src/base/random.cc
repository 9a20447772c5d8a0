#include "base/random.h"

#include <array>
#include <cstring>

#include "base/bytes.h"

namespace icewright {

Random::Random() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(),
                     device(), device(), device(), device()};
  engine_.seed(seed);
}

std::uint64_t Random::Next() {
  const std::scoped_lock lock(mutex_);
  return engine_();
}

std::string Random::NewUuid() {
  const std::uint64_t high = (Next() & ~0xF000ULL) | 0x4000ULL;               // version 4
  const std::uint64_t low = (Next() & 0x3FFFFFFFFFFFFFFFULL) | (1ULL << 63);  // variant 1
  Bytes raw;
  for (int shift = 56; shift >= 0; shift -= 8) raw += static_cast<char>(high >> shift);
  for (int shift = 56; shift >= 0; shift -= 8) raw += static_cast<char>(low >> shift);
  std::string text = ToHex(raw);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) text.insert(dash, "-");
  return text;
}

}  // namespace icewright
