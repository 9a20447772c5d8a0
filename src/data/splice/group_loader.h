#pragma once

/// \file data/splice/group_loader.h
/// The bytes of the chunks of one output row group, read into memory that is used again.

#include <cstdint>
#include <map>
#include <vector>

#include "base/run_context.h"
#include "data/splice/input.h"

namespace icewright::splice {

/// Single-threaded; reads files in parallel.
class GroupLoader {
 public:
  /// Forgets everything but the memory.
  void Clear();

  /// Asks for a part of a file. Precondition: it lies inside the file.
  void Want(const Input& input, const FileRange& range);

  /// Reads all that is wanted, near parts together. Memory: a reservation of the run's budget.
  /// Errors: kExhausted, kCorrupt, those of io; all name the file.
  Status Load(RunContext& run, FileIO& io, int threads);

  /// Precondition: wanted and loaded. Views last until Clear, with kSlack behind them.
  ByteView Get(const Input& input, const FileRange& range) const;

  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  struct Piece {
    FileRange range;
    std::size_t at = 0;  // in the arena
  };
  struct File {
    const Input* input = nullptr;
    std::vector<FileRange> wanted;
    std::vector<Piece> pieces;
  };
  static void Coalesce(File& file);
  Status ReadFile(FileIO& io, const File& file);

  std::vector<File> files_;
  std::map<const Input*, std::size_t> by_input_;
  Scratch arena_;
  Reservation memory_;
  std::int64_t bytes_read_ = 0;
};

}  // namespace icewright::splice
