#include "codec/theta_sketch.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace icewright {
namespace {

constexpr std::uint64_t kSeed = 9001;
constexpr std::uint16_t kSeedHash = 0x93cc;  // 16 bits of the hash of the seed
constexpr std::size_t kNominalEntries = 4096;
constexpr std::size_t kFirstTable = 64;
constexpr std::size_t kLastTable = 4 * kNominalEntries;
constexpr std::uint64_t kMaxTheta = (std::uint64_t{1} << 63) - 1;
constexpr double kHashRange = 9223372036854775808.0;  // 2^63, to which kMaxTheta rounds

constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;

constexpr std::uint64_t MixFirst(std::uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }
constexpr std::uint64_t MixSecond(std::uint64_t k) { return std::rotl(k * kC2, 33) * kC1; }

constexpr std::uint64_t Finish(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33);
}

// Up to 8 bytes, little-endian.
std::uint64_t LoadTail(const char* data, std::size_t size) {
  std::uint64_t out = 0;
  std::memcpy(&out, data, std::min<std::size_t>(size, 8));
  return out;
}

// The first half of MurmurHash3_x64_128.
std::uint64_t Hash(ByteView bytes) {
  std::uint64_t h1 = kSeed;
  std::uint64_t h2 = kSeed;
  const char* data = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 16; left -= 16, data += 16) {
    h1 ^= MixFirst(LoadLittle<std::uint64_t>(data));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= MixSecond(LoadLittle<std::uint64_t>(data + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  if (left > 8) h2 ^= MixSecond(LoadTail(data + 8, left - 8));
  if (left > 0) h1 ^= MixFirst(LoadTail(data, left));
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = Finish(h1);
  h2 = Finish(h2);
  return h1 + h2;
}

// The preamble of 8 bytes that every sketch begins with.
Bytes Preamble(std::uint8_t longs, std::uint8_t flags, std::uint16_t seed_hash = kSeedHash) {
  constexpr std::uint8_t kSerialVersion = 3;
  constexpr std::uint8_t kCompactFamily = 3;
  Bytes out;
  for (const std::uint8_t byte :
       {longs, kSerialVersion, kCompactFamily, std::uint8_t{0}, std::uint8_t{0}, flags}) {
    AppendLittle(out, byte);
  }
  AppendLittle(out, seed_hash);
  return out;
}

constexpr std::uint8_t kReadOnly = 2, kEmpty = 4, kCompact = 8, kOrdered = 16, kSingleItem = 32;

}  // namespace

ThetaSketch::ThetaSketch() : theta_(kMaxTheta), table_(kFirstTable) {}

void ThetaSketch::Update(ByteView value) {
  if (!value.empty()) Add(Hash(value) >> 1);
}

void ThetaSketch::Merge(const ThetaSketch& other) {
  if (other.theta_ < theta_) {
    theta_ = other.theta_;
    Shrink();
  }
  for (const std::uint64_t hash : other.table_) {
    if (hash != 0) Add(hash);
  }
}

void ThetaSketch::Add(std::uint64_t hash) {
  if (hash == 0 || hash >= theta_) return;
  Insert(hash);
  if (count_ * 2 <= table_.size()) return;
  if (table_.size() < kLastTable) {
    Grow();
  } else {
    Shrink();
  }
}

void ThetaSketch::Insert(std::uint64_t hash) {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = (hash * 0x9e3779b97f4a7c15ULL) >> 40 & mask;
  while (table_[slot] != 0) {
    if (table_[slot] == hash) return;
    slot = (slot + 1) & mask;
  }
  table_[slot] = hash;
  ++count_;
}

void ThetaSketch::Grow() {
  std::vector<std::uint64_t> old(table_.size() * 4);
  old.swap(table_);
  count_ = 0;
  for (const std::uint64_t hash : old) {
    if (hash != 0) Insert(hash);
  }
}

// Drops what is not among the smallest, and with it what theta has passed.
void ThetaSketch::Shrink() {
  const Trimmed trimmed = Trim();
  theta_ = trimmed.theta;
  std::fill(table_.begin(), table_.end(), 0);
  count_ = 0;
  for (const std::uint64_t hash : trimmed.hashes) Insert(hash);
}

ThetaSketch::Trimmed ThetaSketch::Trim() const {
  Trimmed out{.hashes = {}, .theta = theta_};
  for (const std::uint64_t hash : table_) {
    if (hash != 0 && hash < theta_) out.hashes.push_back(hash);
  }
  if (out.hashes.size() > kNominalEntries) {
    const auto last = out.hashes.begin() + kNominalEntries;
    std::nth_element(out.hashes.begin(), last, out.hashes.end());
    out.theta = *last;
    out.hashes.resize(kNominalEntries);
  }
  return out;
}

std::int64_t ThetaSketch::Estimate() const {
  const Trimmed trimmed = Trim();
  const auto kept = static_cast<double>(trimmed.hashes.size());
  return static_cast<std::int64_t>(kept * (kHashRange / static_cast<double>(trimmed.theta)));
}

Bytes ThetaSketch::Serialize() const {
  Trimmed trimmed = Trim();
  std::sort(trimmed.hashes.begin(), trimmed.hashes.end());
  constexpr std::uint8_t kFlags = kReadOnly | kCompact | kOrdered;
  const bool exact = trimmed.theta == kMaxTheta;
  Bytes out;
  if (exact && trimmed.hashes.empty()) {
    out = Preamble(1, kFlags | kEmpty, 0);
  } else if (exact && trimmed.hashes.size() == 1) {
    out = Preamble(1, kFlags | kSingleItem);
  } else {
    out = Preamble(exact ? 2 : 3, kFlags);
    AppendLittle(out, static_cast<std::uint32_t>(trimmed.hashes.size()));
    AppendLittle(out, 1.0F);  // sampling probability
    if (!exact) AppendLittle(out, trimmed.theta);
  }
  for (const std::uint64_t hash : trimmed.hashes) AppendLittle(out, hash);
  return out;
}

}  // namespace icewright
