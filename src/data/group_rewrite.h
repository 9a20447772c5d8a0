#pragma once

/// \file data/group_rewrite.h
/// One group through the decoding engine: read, (sort,) partition, write, prove.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/batch_reader.h"
#include "data/external_sort.h"
#include "data/group_proof.h"
#include "data/location_provider.h"
#include "data/partitioner.h"
#include "data/rewrite_engine.h"
#include "data/rolling_writer.h"
#include "data/write_budget.h"

namespace icewright {

/// What the groups of one operation share. Thread-safe as a whole.
struct GroupRewriteSetup {
  std::shared_ptr<const TableMetadata> metadata;
  std::shared_ptr<FileIO> io;
  std::shared_ptr<const ReadPlan> read_plan;
  std::shared_ptr<const WritePlan> write_plan;
  std::shared_ptr<DeleteCache> deletes;
  std::shared_ptr<const LocationProvider> locations;
  std::shared_ptr<FileNames> names;
  std::shared_ptr<std::timed_mutex> alone;  ///< held by a group that needs the whole memory
};

/// The id of a sort order of the table that has the same fields as the wanted one; 0 if there is
/// none.
SortOrderId TableOrderId(const TableMetadata& metadata, const std::optional<SortOrder>& wanted);

/// What people are told where rows are sorted by an order that is not one of the table's.
inline constexpr std::string_view kForeignOrder =
    "the sort order is not one of the table's: sort_order_id is 0";

/// Errors: kUnsupported, kInvalidArgument for the table's properties.
Result<GroupRewriteSetup> MakeGroupRewriteSetup(std::shared_ptr<const TableMetadata> metadata,
                                                std::shared_ptr<FileIO> io,
                                                std::string operation_id);

/// Rows that passed the deletes. With `partition` set all of them belong to it.
struct GroupBatch {
  std::shared_ptr<arrow::RecordBatch> rows;
  std::shared_ptr<const StructValue> partition;
};

/// The tasks of a group one after the other, with sums of what came out. Single-threaded.
class GroupReader {
 public:
  GroupReader(const GroupRewriteSetup& setup, const std::vector<FileTask>& tasks,
              std::shared_ptr<const ReadPlan> plan, std::shared_ptr<arrow::MemoryPool> pool,
              SpecId output_spec)
      : setup_(setup),
        tasks_(tasks),
        plan_(std::move(plan)),
        pool_(std::move(pool)),
        output_spec_(output_spec) {}

  /// Unset at the end. Errors: kCorrupt if a file has not the rows its manifest entry says.
  Result<std::optional<GroupBatch>> Next(RunContext& run);

  void HashRows() { hash_rows_ = true; }
  const ColumnSums& sums() const { return sums_; }
  std::uint64_t row_hash() const { return row_hash_.sum(); }
  const ReadCounts& counts() const { return counts_; }

 private:
  Status OpenNext(RunContext& run);
  Status FinishTask();

  const GroupRewriteSetup& setup_;
  const std::vector<FileTask>& tasks_;
  std::shared_ptr<const ReadPlan> plan_;
  std::shared_ptr<arrow::MemoryPool> pool_;
  SpecId output_spec_;
  bool hash_rows_ = false;
  std::size_t next_ = 0;
  std::unique_ptr<BatchReader> reader_;
  std::shared_ptr<const StructValue> partition_;
  ReadCounts counts_;
  ColumnSums sums_;
  RowHashSum row_hash_;
};

/// Single-threaded; the setup and the request must outlive it.
class GroupRewrite {
 public:
  GroupRewrite(const GroupRewriteSetup& setup, const RewriteGroupRequest& request,
               std::int64_t group_id)
      : setup_(setup), request_(request), group_id_(group_id) {}

  Result<RewrittenGroup> Execute(RunContext& run);

  /// Files that are, or may be, complete and visible; after an error they must go.
  std::vector<Location> WrittenFiles() const;

 private:
  Status Prepare(RunContext& run);
  Status PrepareSort(const PartitionSpec& spec);
  bool IsOnePartition() const;
  Status WriteAll(RunContext& run, GroupReader& reader);
  Status WriteSorted(RunContext& run, GroupReader& reader);
  Status WriteBatch(RunContext& run, const GroupBatch& batch);
  Status Relieve(RunContext& run);
  Status WriteRows(RunContext& run, const StructValue& partition, const arrow::RecordBatch& rows);
  Status Prove(RunContext& run, const GroupReader& reader, const std::vector<DataFile>& files);
  Status Reread(RunContext& run, const GroupReader& reader, const std::vector<DataFile>& files);
  RewrittenGroup Report(const GroupReader& reader, std::vector<DataFile> files);

  const GroupRewriteSetup& setup_;
  const RewriteGroupRequest& request_;
  const std::int64_t group_id_;
  WriteBudget budget_;
  std::shared_ptr<arrow::MemoryPool> pool_;
  std::shared_ptr<const ReadPlan> read_plan_;
  std::shared_ptr<const WritePlan> write_plan_;
  std::optional<Partitioner> partitioner_;
  std::unique_ptr<ExternalSort> sort_;
  std::unique_ptr<FanoutWriter> writer_;
  ColumnSums written_;
  bool gave_back_ = false;
};

/// One group through a GroupRewrite; on an error its files are deleted again, and what cannot be
/// deleted is named in the message.
Result<RewrittenGroup> RewriteByDecoding(RunContext& run, const GroupRewriteSetup& setup,
                                         const RewriteGroupRequest& request, std::int64_t group_id);

/// `error`, after deleting `written`; what is left behind is named in the message.
Error DeleteAfter(const Error& error, FileIO& io, const std::vector<Location>& written);

}  // namespace icewright
