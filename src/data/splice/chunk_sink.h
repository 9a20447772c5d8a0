#pragma once

/// \file data/splice/chunk_sink.h
/// Where the pages of a chunk go: into the file, or into memory until its turn comes.

#include <vector>

#include "base/run_context.h"
#include "data/splice/scratch.h"

namespace icewright::splice {

/// Used again for one chunk after another, with its memory. Single-threaded.
class ChunkSink {
 public:
  /// Begins a chunk. `file`: null to hold it in memory, within the run's budget.
  void Begin(RunContext& run, ByteSink* file);

  /// Errors: those of the file; kExhausted.
  Status Append(ByteView bytes);

  /// The same for bytes that outlive the chunk: they are not copied.
  Status AppendLasting(ByteView bytes);

  /// Writes what is held.
  Status Flush(ByteSink& file);

 private:
  struct Piece {
    const char* lasting = nullptr;  // null: the next bytes of held_
    std::size_t size = 0;
  };

  RunContext* run_ = nullptr;
  ByteSink* file_ = nullptr;
  std::vector<Piece> pieces_;
  Scratch held_;
  Reservation memory_;
};

}  // namespace icewright::splice
