#pragma once

/// \file maintain/path_set.h
/// A set of paths that keeps 16 bytes of each: what tells millions of live files from dead ones.
///
/// Two paths with the same hash count as one. Users of the set look for what to keep in it, so such
/// an accident keeps a file that could go, and never the other way round.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace icewright {

/// 128 bits of MurmurHash3 (x64) of a path.
struct PathHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const PathHash&, const PathHash&) = default;
  friend auto operator<=>(const PathHash&, const PathHash&) = default;
};
PathHash HashPath(std::string_view path);

/// Open addressing, at most two thirds full. Reading is thread-safe, writing is not.
class PathSet {
 public:
  /// True if it was not in the set.
  bool Insert(PathHash hash);
  bool Insert(std::string_view path) { return Insert(HashPath(path)); }

  bool Contains(PathHash hash) const;
  bool Contains(std::string_view path) const { return Contains(HashPath(path)); }

  std::size_t size() const { return size_; }

  /// Memory of the table.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(PathHash));
  }

  /// What the table will take when `more` paths are added: ask for it before adding them. While it
  /// grows, the old table is there, too.
  std::int64_t BytesWith(std::size_t more) const;

 private:
  static std::size_t SlotsFor(std::size_t paths);
  std::size_t Find(PathHash hash) const;
  void Grow();

  std::vector<PathHash> slots_;  // {0, 0}: free
  std::size_t size_ = 0;
};

}  // namespace icewright
