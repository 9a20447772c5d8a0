#include "data/group_rewrite.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "data/arrow_bridge.h"
#include "data/pipeline.h"

namespace icewright {
namespace {

constexpr std::size_t kBatchesAhead = 2;
constexpr std::int64_t kMinGiveBack = std::int64_t{1} << 20;
constexpr std::int64_t kMinGiveBackPart = 4;  // of a row group that is not encoded yet
constexpr std::int64_t kSpareFraction = 3;    // a third: one batch may double the largest columns

double EncodedRowBytes(const std::vector<FileTask>& tasks) {
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const FileTask& task : tasks) {
    bytes += task.data_file.file_size_in_bytes;
    rows += task.data_file.record_count;
  }
  return rows > 0 ? static_cast<double>(bytes) / static_cast<double>(rows) : 1;
}

std::int64_t EncodedBytes(const std::vector<FileTask>& tasks) {
  std::int64_t bytes = 0;
  for (const FileTask& task : tasks) bytes += task.data_file.file_size_in_bytes;
  return bytes;
}

}  // namespace

SortOrderId TableOrderId(const TableMetadata& metadata, const std::optional<SortOrder>& wanted) {
  if (!wanted || wanted->fields.empty()) return SortOrderId{0};
  for (const SortOrder& order : metadata.sort_orders) {
    if (order.fields == wanted->fields) return order.id;
  }
  return SortOrderId{0};
}

Result<GroupRewriteSetup> MakeGroupRewriteSetup(std::shared_ptr<const TableMetadata> metadata,
                                                std::shared_ptr<FileIO> io,
                                                std::string operation_id) {
  GroupRewriteSetup setup;
  const Schema schema = RewriteSchema(*metadata);
  IW_ASSIGN(setup.read_plan, MakeReadPlan(metadata, schema));
  IW_ASSIGN(WritePlan plan, MakeWritePlan(metadata, schema));
  setup.names = std::make_shared<FileNames>(std::move(operation_id), plan.format);
  setup.write_plan = std::make_shared<const WritePlan>(std::move(plan));
  setup.deletes = MakeDeleteCache(setup.read_plan, io);
  setup.locations = std::make_shared<const LocationProvider>(*metadata);
  setup.alone = std::make_shared<std::timed_mutex>();
  setup.metadata = std::move(metadata);
  setup.io = std::move(io);
  return setup;
}

Status GroupReader::OpenNext(RunContext& run) {
  const FileTask& task = tasks_[next_++];
  IW_ASSIGN(reader_, OpenTask(run, plan_, setup_.io, setup_.deletes, task, pool_));
  partition_ = task.data_file.spec_id == output_spec_
                   ? std::make_shared<const StructValue>(task.data_file.partition)
                   : nullptr;
  return {};
}

Status GroupReader::FinishTask() {
  const DataFile& file = tasks_[next_ - 1].data_file;
  const ReadCounts counts = reader_->counts();
  if (counts.rows_read != file.record_count) {
    return Error(Code::kCorrupt,
                 fmt::format("{}: its manifest entry says {} rows, it has {}",
                             file.file_path.text(), file.record_count, counts.rows_read));
  }
  counts_.rows_read += counts.rows_read;
  counts_.rows_deleted += counts.rows_deleted;
  reader_.reset();
  return {};
}

Result<std::optional<GroupBatch>> GroupReader::Next(RunContext& run) {
  for (;;) {
    IW_TRY(run.Check());
    if (reader_ == nullptr) {
      if (next_ == tasks_.size()) return std::optional<GroupBatch>{};
      IW_TRY(OpenNext(run));
    }
    IW_ASSIGN(auto batch, reader_->Next(run));
    if (batch == nullptr) {
      IW_TRY(FinishTask());
      continue;
    }
    if (batch->num_rows() == 0) continue;
    IW_TRY(sums_.Add(plan_->projection, *batch));
    if (hash_rows_) IW_TRY(row_hash_.Add(*batch));
    return std::optional<GroupBatch>({std::move(batch), partition_});
  }
}

bool GroupRewrite::IsOnePartition() const {
  const StructValueEqual same;
  return std::all_of(request_.tasks.begin(), request_.tasks.end(), [&](const FileTask& task) {
    return task.data_file.spec_id == request_.output_spec_id &&
           same(task.data_file.partition, request_.tasks.front().data_file.partition);
  });
}

Status GroupRewrite::PrepareSort(const PartitionSpec& spec) {
  std::vector<SortField> fields;
  if (!IsOnePartition()) {
    // Rows of one partition come together: one writer is open at a time.
    for (const PartitionField& field : spec.fields) {
      fields.push_back({.source_ids = field.source_ids, .transform = field.transform});
    }
    budget_.max_open_writers = 1;
  }
  fields.insert(fields.end(), request_.sort_order->fields.begin(),
                request_.sort_order->fields.end());
  IW_ASSIGN(SortKey key, SortKey::Make(setup_.write_plan->schema, fields));
  sort_ = std::make_unique<ExternalSort>(
      std::move(key),
      SortOptions{.memory_bytes = budget_.sort_bytes, .output_rows = budget_.batch_rows}, pool_);
  return {};
}

Status GroupRewrite::Prepare(RunContext& run) {
  const PartitionSpec* spec = setup_.metadata->FindSpec(request_.output_spec_id);
  if (spec == nullptr) {
    return Error(Code::kInvalidArgument,
                 "the table has no partition spec " + ToString(request_.output_spec_id));
  }
  budget_ = PlanWriteBudget(run.memory().limit(), run.threads(), *setup_.write_plan,
                            static_cast<std::int64_t>(EncodedRowBytes(request_.tasks)));
  pool_ = MakePool(run);
  auto read_plan = std::make_shared<ReadPlan>(*setup_.read_plan);
  read_plan->batch_rows = budget_.batch_rows;
  read_plan->by_column_bytes = budget_.by_column_bytes;
  read_plan_ = std::move(read_plan);
  auto write_plan = std::make_shared<WritePlan>(*setup_.write_plan);
  write_plan->row_group_bytes = budget_.row_group_bytes;
  write_plan->dictionary_bytes = budget_.dictionary_bytes;
  write_plan->raw_row_group_bytes = budget_.raw_row_group_bytes;
  write_plan->sort_order_id = TableOrderId(*setup_.metadata, request_.sort_order);
  write_plan_ = std::move(write_plan);
  if (request_.sort_order && !request_.sort_order->fields.empty()) IW_TRY(PrepareSort(*spec));

  const bool by_rows =
      sort_ ? !IsOnePartition()
            : std::any_of(request_.tasks.begin(), request_.tasks.end(), [&](const FileTask& task) {
                return task.data_file.spec_id != request_.output_spec_id;
              });
  if (by_rows) {
    IW_ASSIGN(partitioner_, Partitioner::Make(write_plan_->schema, *spec));
  }
  RollingOptions options;
  options.plan = write_plan_;
  options.io = setup_.io.get();
  options.pool = pool_;
  options.roll_at_bytes = request_.roll_at_bytes;
  options.input_row_bytes = EncodedRowBytes(request_.tasks);
  options.expected_files = IsOnePartition() ? request_.expected_output_files : 0;
  options.spec_id = request_.output_spec_id;
  options.new_location = [this, spec](const StructValue& partition) {
    return setup_.locations->NewDataLocation(
        spec->is_unpartitioned() ? "" : spec->PathOf(setup_.metadata->schema(), partition),
        setup_.names->Next(0, group_id_));
  };
  writer_ = std::make_unique<FanoutWriter>(std::move(options), budget_.max_open_writers);
  return {};
}

// Ends row groups early while memory is short.
Status GroupRewrite::Relieve(RunContext& run) {
  const MemoryBudget& memory = run.memory();
  if (memory.limit() == MemoryBudget::kUnlimited) return {};
  const std::int64_t min_bytes =
      budget_.raw_row_group_bytes ? *budget_.raw_row_group_bytes / kMinGiveBackPart : kMinGiveBack;
  while (memory.available() < memory.limit() / kSpareFraction) {
    IW_ASSIGN(const bool gave, writer_->GiveBack(run, min_bytes));
    if (!gave) return {};
    gave_back_ = true;
  }
  return {};
}

Status GroupRewrite::WriteRows(RunContext& run, const StructValue& partition,
                               const arrow::RecordBatch& rows) {
  IW_TRY(written_.Add(write_plan_->schema, rows));
  IW_TRY(Relieve(run));
  return writer_->Write(run, partition, rows);
}

Status GroupRewrite::WriteBatch(RunContext& run, const GroupBatch& batch) {
  if (batch.partition != nullptr) return WriteRows(run, *batch.partition, *batch.rows);
  IW_ASSIGN(const auto parts, partitioner_->Split(batch.rows, pool_.get()));
  for (const PartitionedRows& part : parts) {
    IW_TRY(WriteRows(run, partitioner_->partitions()[part.partition], *part.rows));
  }
  return {};
}

Status GroupRewrite::WriteSorted(RunContext& run, GroupReader& reader) {
  for (;;) {
    IW_ASSIGN(auto batch, reader.Next(run));
    if (!batch) break;
    IW_TRY(sort_->Add(run, std::move(batch->rows)));
  }
  const std::shared_ptr<const StructValue> partition =
      partitioner_
          ? nullptr
          : std::make_shared<const StructValue>(request_.tasks.front().data_file.partition);
  return Pipeline<GroupBatch>(
      run, kBatchesAhead,
      [&]() -> Result<std::optional<GroupBatch>> {
        IW_ASSIGN(auto rows, sort_->Next(run));
        if (rows == nullptr) return std::optional<GroupBatch>{};
        return std::optional<GroupBatch>({std::move(rows), partition});
      },
      [&](GroupBatch&& batch) { return WriteBatch(run, batch); });
}

Status GroupRewrite::WriteAll(RunContext& run, GroupReader& reader) {
  if (sort_ != nullptr) return WriteSorted(run, reader);
  return Pipeline<GroupBatch>(
      run, kBatchesAhead, [&] { return reader.Next(run); },
      [&](GroupBatch&& batch) { return WriteBatch(run, batch); });
}

// Reads the files again and compares every value.
Status GroupRewrite::Reread(RunContext& run, const GroupReader& reader,
                            const std::vector<DataFile>& files) {
  std::vector<FileTask> tasks;
  for (const DataFile& file : files) tasks.push_back({.data_file = file, .deletes = {}});
  auto plan = std::make_shared<ReadPlan>(*read_plan_);
  plan->stored_lineage = true;
  GroupReader again(setup_, tasks, std::move(plan), pool_, request_.output_spec_id);
  again.HashRows();
  for (;;) {
    IW_ASSIGN(const auto batch, again.Next(run));
    if (!batch) break;
  }
  IW_TRY(reader.sums().CheckSame(again.sums()));
  if (again.row_hash() != reader.row_hash()) {
    return Error(Code::kInternal,
                 fmt::format("what was written is not what was read: hash of all values {:016x} "
                             "read, {:016x} written",
                             reader.row_hash(), again.row_hash()));
  }
  return {};
}

Status GroupRewrite::Prove(RunContext& run, const GroupReader& reader,
                           const std::vector<DataFile>& files) {
  std::int64_t in_files = 0;
  for (const DataFile& file : files) in_files += file.record_count;
  const ReadCounts& counts = reader.counts();
  if (counts.rows_read != in_files + counts.rows_deleted) {
    return Error(Code::kInternal, fmt::format("{} rows read, {} deleted, {} written",
                                              counts.rows_read, counts.rows_deleted, in_files));
  }
  IW_TRY(reader.sums().CheckSame(written_));
  return request_.verify_values ? Reread(run, reader, files) : Status{};
}

RewrittenGroup GroupRewrite::Report(const GroupReader& reader, std::vector<DataFile> files) {
  RewrittenGroup group;
  group.rows_read = reader.counts().rows_read;
  group.rows_deleted = reader.counts().rows_deleted;
  group.bytes_read = EncodedBytes(request_.tasks);
  for (const DataFile& file : files) {
    group.rows_written += file.record_count;
    group.bytes_written += file.file_size_in_bytes;
  }
  group.added = std::move(files);
  group.notes = budget_.notes;
  if (writer_->closed_early() && sort_ == nullptr) {
    group.notes.push_back(
        fmt::format("at most {} files open at once, some were closed early: "
                    "memory limit",
                    budget_.max_open_writers));
  }
  if (gave_back_) group.notes.push_back("row groups ended early: memory limit");
  if (setup_.locations->has_foreign_provider()) {
    group.notes.push_back("write.location-provider.impl is a class of Java's and was not used");
  }
  if (request_.sort_order && !request_.sort_order->fields.empty() &&
      write_plan_->sort_order_id == SortOrderId{0}) {
    group.notes.emplace_back(kForeignOrder);
  }
  return group;
}

Result<RewrittenGroup> GroupRewrite::Execute(RunContext& run) {
  if (request_.tasks.empty()) return Error(Code::kInvalidArgument, "a group without files");
  if (request_.roll_at_bytes <= 0) {
    return Error(Code::kInvalidArgument, "files must roll at a size above 0");
  }
  IW_TRY(Prepare(run));
  std::unique_lock<std::timed_mutex> alone(*setup_.alone, std::defer_lock);
  if (budget_.raw_row_group_bytes) {
    while (!alone.try_lock_for(std::chrono::milliseconds(100))) IW_TRY(run.Check());
  }
  GroupReader reader(setup_, request_.tasks, read_plan_, pool_, request_.output_spec_id);
  if (request_.verify_values) reader.HashRows();
  IW_TRY(WriteAll(run, reader));
  IW_ASSIGN(std::vector<DataFile> files, writer_->Close(run));
  IW_TRY(Prove(run, reader, files));
  return Report(reader, std::move(files));
}

std::vector<Location> GroupRewrite::WrittenFiles() const {
  return writer_ == nullptr ? std::vector<Location>{} : writer_->ClosedFiles();
}

}  // namespace icewright
