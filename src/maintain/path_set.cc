#include "maintain/path_set.h"

#include <bit>
#include <utility>

#include "base/bytes.h"

namespace icewright {
namespace {

constexpr std::uint64_t kFirst = 0x87c37b91114253d5ULL;
constexpr std::uint64_t kSecond = 0x4cf5ad432745937fULL;
constexpr PathHash kFree = {};

std::uint64_t Scatter(std::uint64_t word) {
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccdULL;
  word ^= word >> 33;
  word *= 0xc4ceb9fe1a85ec53ULL;
  word ^= word >> 33;
  return word;
}

std::uint64_t MixFirst(std::uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; }
std::uint64_t MixSecond(std::uint64_t word) { return std::rotl(word * kSecond, 33) * kFirst; }

// Up to 8 bytes, the missing ones as zero.
std::uint64_t LoadTail(std::string_view bytes) {
  char padded[8] = {};
  bytes.copy(padded, sizeof(padded));
  return LoadLittle<std::uint64_t>(padded);
}

}  // namespace

PathHash HashPath(std::string_view path) {
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;
  std::string_view rest = path;
  for (; rest.size() >= 16; rest.remove_prefix(16)) {
    h1 ^= MixFirst(LoadLittle<std::uint64_t>(rest.data()));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= MixSecond(LoadLittle<std::uint64_t>(rest.data() + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  if (rest.size() > 8) h2 ^= MixSecond(LoadTail(rest.substr(8)));
  h1 ^= MixFirst(LoadTail(rest));
  h1 ^= path.size();
  h2 ^= path.size();
  h1 += h2;
  h2 += h1;
  h1 = Scatter(h1);
  h2 = Scatter(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

std::size_t PathSet::SlotsFor(std::size_t paths) {
  return std::bit_ceil(paths + paths / 2 + 1) < 16 ? 16 : std::bit_ceil(paths + paths / 2 + 1);
}

std::int64_t PathSet::BytesWith(std::size_t more) const {
  const std::size_t needed = SlotsFor(size_ + more);
  if (needed <= slots_.size()) return bytes();
  return static_cast<std::int64_t>((needed + needed / 2) * sizeof(PathHash));
}

// The slot of the hash, or the free one where it belongs. Precondition: a slot is free.
std::size_t PathSet::Find(PathHash hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash.low & mask;
  while (slots_[at] != kFree && slots_[at] != hash) at = (at + 1) & mask;
  return at;
}

void PathSet::Grow() {
  std::vector<PathHash> old = std::exchange(slots_, {});
  slots_.resize(SlotsFor(size_ + 1));
  for (const PathHash& hash : old) {
    if (hash != kFree) slots_[Find(hash)] = hash;
  }
}

bool PathSet::Insert(PathHash hash) {
  if (hash == kFree) hash.low = 1;
  if (SlotsFor(size_ + 1) > slots_.size()) Grow();
  PathHash& slot = slots_[Find(hash)];
  if (slot == hash) return false;
  slot = hash;
  ++size_;
  return true;
}

bool PathSet::Contains(PathHash hash) const {
  if (hash == kFree) hash.low = 1;
  return size_ > 0 && slots_[Find(hash)] == hash;
}

}  // namespace icewright
