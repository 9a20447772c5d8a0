#pragma once

/// \file data/splice/group_splice.h
/// One group through the splicing engine: inputs in order, cut into row groups and files.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "data/group_rewrite.h"
#include "data/rewrite_engine.h"
#include "data/splice/decoded_input.h"
#include "data/splice/file_builder.h"
#include "data/splice/generated.h"
#include "data/splice/group_loader.h"

namespace icewright::splice {

/// Single-threaded; all it is given must outlive it.
class GroupSplice {
 public:
  GroupSplice(const GroupRewriteSetup& setup, std::shared_ptr<const Layout> layout,
              const RewriteGroupRequest& request, std::int64_t group_id)
      : setup_(setup), layout_(std::move(layout)), request_(request), group_id_(group_id) {}

  /// Errors: kUnsupported if a page has to be decoded that no plan could know of: the group is for
  /// the other engine then. Else as RewriteEngine::Rewrite.
  Result<RewrittenGroup> Execute(RunContext& run, std::vector<Input> inputs);

  /// Files that are complete and visible; after an error they must go.
  std::vector<Location> WrittenFiles() const;

 private:
  // Rows of an input that go into a row group as a whole.
  struct Unit {
    const Input* input = nullptr;
    std::size_t group = 0;              // of the input; its deletes are left out
    const DecodedPart* part = nullptr;  // what is decoded of it; null: nothing
    std::int64_t rows = 0;              // that stay
    std::int64_t bytes = 0;             // compressed, before
  };

  // A chunk on its way, with what its sources point to.
  struct ColumnJob {
    std::vector<Source> sources;
    std::vector<std::unique_ptr<GeneratedChunk>> generated;
    TreatmentBytes treated = {};  // of generated and decoded ones
  };

  Status AddInput(RunContext& run, Input input);
  Status AddUnit(RunContext& run, const Unit& unit);
  std::int64_t RowGroupLimit() const;
  std::int64_t RollLimit() const;
  Status WriteRowGroup(RunContext& run);
  std::size_t EndOfBatch(RunContext& run, std::size_t first) const;
  Status LoadChunks(RunContext& run, std::size_t first, std::size_t end);
  ColumnJob MakeJob(std::size_t column) const;
  Source ChunkSource(const OutputColumn& column, const ColumnPlan& plan, const Unit& unit) const;
  Source PartSource(const OutputColumn& column, std::size_t index, const Unit& unit) const;
  Result<WrittenColumn> WriteColumn(RunContext& run, ChunkWriter& writer, std::size_t column,
                                    ChunkSink& sink) const;
  Status WriteColumns(RunContext& run);
  Status WriteSome(RunContext& run, std::size_t first, std::size_t count);
  Status CloseFile(RunContext& run);

  const GroupRewriteSetup& setup_;
  const std::shared_ptr<const Layout> layout_;
  const RewriteGroupRequest& request_;
  const std::int64_t group_id_;
  WriteBudget budget_;
  std::deque<Input> inputs_;                    // whose rows are not all written
  std::deque<std::vector<DecodedPart>> parts_;  // of the same
  std::vector<Unit> units_;                     // of the row group that fills
  std::int64_t unit_bytes_ = 0;
  std::int64_t bytes_in_ = 0, bytes_out_ = 0;  // of row groups so far: how much they shrink
  GroupLoader loader_;
  std::vector<ChunkWriter> writers_;  // one for each thread
  std::vector<ChunkSink> sinks_;      // the same
  std::unique_ptr<FileBuilder> file_;
  RewrittenGroup result_;
  TreatmentBytes treated_ = {};
};

}  // namespace icewright::splice
