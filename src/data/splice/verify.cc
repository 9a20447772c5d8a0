#include "data/splice/verify.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>

#include "data/arrow_bridge.h"
#include "data/group_proof.h"

namespace icewright::splice {
namespace {

// Sums of hashes of values, each mixed with its place.
class ColumnHashes {
 public:
  Status Add(const arrow::RecordBatch& batch) {
    sums_.resize(static_cast<std::size_t>(batch.num_columns()), 0);
    for (int i = 0; i < batch.num_columns(); ++i) {
      IW_ASSIGN(const auto column, FromArrow(batch.SelectColumns({i})));
      IW_ASSIGN(const std::vector<std::uint64_t> hashes, HashRows(*column));
      std::uint64_t& sum = sums_[static_cast<std::size_t>(i)];
      for (std::size_t row = 0; row < hashes.size(); ++row) {
        const std::uint64_t place = rows_ + row;
        sum += (hashes[row] ^ (place * 0x9E3779B97F4A7C15U)) * 0xD6E8FEB86659FD93U;
      }
    }
    rows_ += static_cast<std::uint64_t>(batch.num_rows());
    return {};
  }

  std::uint64_t rows() const { return rows_; }
  const std::vector<std::uint64_t>& sums() const { return sums_; }

 private:
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> sums_;
};

Result<ColumnHashes> HashAll(RunContext& run, const GroupRewriteSetup& setup,
                             const std::vector<FileTask>& tasks,
                             std::shared_ptr<const ReadPlan> plan, SpecId spec) {
  GroupReader reader(setup, tasks, std::move(plan), MakePool(run), spec);
  ColumnHashes out;
  for (;;) {
    IW_ASSIGN(const auto batch, reader.Next(run));
    if (!batch) return out;
    IW_TRY(out.Add(*batch->rows));
  }
}

}  // namespace

Status VerifyGroup(RunContext& run, const GroupRewriteSetup& setup,
                   const RewriteGroupRequest& request, const std::vector<DataFile>& files) {
  IW_ASSIGN(const ColumnHashes read,
            HashAll(run, setup, request.tasks, setup.read_plan, request.output_spec_id));
  std::vector<FileTask> tasks;
  for (const DataFile& file : files) tasks.push_back({.data_file = file, .deletes = {}});
  auto plan = std::make_shared<ReadPlan>(*setup.read_plan);
  plan->stored_lineage = true;
  IW_ASSIGN(const ColumnHashes written,
            HashAll(run, setup, tasks, std::move(plan), request.output_spec_id));
  if (read.rows() != written.rows()) {
    return Error(Code::kInternal,
                 fmt::format("{} rows read, {} written", read.rows(), written.rows()));
  }
  if (read.rows() == 0) return {};
  for (std::size_t i = 0; i < read.sums().size(); ++i) {
    if (read.sums()[i] == written.sums()[i]) continue;
    return Error(Code::kInternal,
                 fmt::format("what was written is not what was read: column {}: hash {:016x} "
                             "read, {:016x} written",
                             setup.read_plan->projection.fields()[i].name, read.sums()[i],
                             written.sums()[i]));
  }
  return {};
}

}  // namespace icewright::splice
