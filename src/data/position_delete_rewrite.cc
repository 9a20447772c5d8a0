#include "data/position_delete_rewrite.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/guarded.h"
#include "data/arrow_bridge.h"
#include "data/arrow_schema.h"
#include "data/delete_cache.h"
#include "data/deletion_vector_writer.h"
#include "data/file_writer.h"
#include "data/location_provider.h"

namespace icewright {
namespace {

constexpr std::int64_t kBatchRows = 64 << 10;

// What is deleted of one data file.
struct Positions {
  SequenceNumber needed{0};  // an older delete file does not apply
  SequenceNumber newest{0};  // of the inputs that did
  PositionBitmap bitmap;
  Reservation memory = {};
};
using ByPath = std::map<std::string, Positions>;  // in the order of the output

Schema PositionDeleteSchema() {
  return Schema({{.id = kDeleteFilePathField,
                  .name = "file_path",
                  .required = true,
                  .type = Type::Of(TypeId::kString)},
                 {.id = kDeleteFilePosField,
                  .name = "pos",
                  .required = true,
                  .type = Type::Of(TypeId::kLong)}},
                SchemaId{0});
}

// Readers see the scope of a delete file by the bounds of file_path: they may not be cut.
Result<std::shared_ptr<const WritePlan>> PlanOf(
    const std::shared_ptr<const TableMetadata>& metadata) {
  auto like = std::make_shared<TableMetadata>(*metadata);
  const Properties& properties = metadata->properties;
  like->properties["write.format.default"] =
      StringProperty(properties, "write.delete.format.default",
                     StringProperty(properties, "write.format.default", "parquet"));
  IW_ASSIGN(WritePlan plan, MakeWritePlan(like, PositionDeleteSchema()));
  const Properties full = {{"write.metadata.metrics.default", "full"}};
  IW_ASSIGN(plan.metrics, MetricsConfig::Make(full, plan.schema, SortOrder{}));
  return std::make_shared<const WritePlan>(std::move(plan));
}

class GroupRewriter {
 public:
  GroupRewriter(RunContext& run, const std::shared_ptr<FileIO>& io,
                const std::shared_ptr<const TableMetadata>& metadata,
                const PositionDeletesRequest& request, const std::string& operation_id)
      : run_(run),
        io_(io),
        metadata_(metadata),
        request_(request),
        operation_id_(operation_id),
        locations_(*metadata) {}

  Result<RewrittenPositionDeletes> Rewrite() {
    const Status done = Guarded([&] { return ReadAndWrite(); });
    if (done) return std::move(result_);
    std::string left;
    for (const DeleteFailure& failure : io_->DeleteFiles(written_)) {
      left += " " + failure.location.text();
    }
    if (left.empty()) return done.error();
    return Error(done.error().code(), done.error().message() + "; left behind:" + left);
  }

 private:
  Status ReadAndWrite() {
    for (const DeleteTarget& target : request_.targets) {
      positions_[target.data_file.text()].needed = target.sequence_number;
    }
    for (const auto& input : request_.inputs) {
      IW_TRY(run_.Check());
      IW_TRY(Read(*input));
    }
    std::erase_if(positions_, [](const auto& one) { return one.second.bitmap.empty(); });
    for (const auto& [path, positions] : positions_) {
      result_.rows_written += positions.bitmap.cardinality();
    }
    if (positions_.empty()) return {};
    return request_.as_vectors ? WriteVectors() : WriteFiles();
  }

  Status Read(const DeleteTask& input) {
    std::optional<std::string> only;
    if (const auto referenced = ReferencedDataFile(input.file)) only = referenced->text();
    result_.rows_read += input.file.record_count;
    std::int64_t used = 0;
    IW_ASSIGN(auto split, ReadPositionDeletes(run_, *io_, input.file, only));
    for (auto& [path, deleted] : split) {
      const auto target = positions_.find(path);
      if (target == positions_.end() || input.sequence_number < target->second.needed) continue;
      Positions& positions = target->second;
      used += deleted.bitmap.cardinality();
      positions.newest = std::max(positions.newest, input.sequence_number);
      positions.bitmap.Merge(deleted.bitmap);
      const std::int64_t bytes = positions.bitmap.cardinality() * 2 + 1024;
      if (positions.memory.bytes() == 0) {
        IW_ASSIGN(positions.memory, run_.memory().Reserve(bytes, "deleted positions"));
      } else {
        IW_TRY(positions.memory.Resize(bytes));
      }
    }
    result_.rows_dropped += std::max<std::int64_t>(input.file.record_count - used, 0);
    return {};
  }

  Location NewLocation(std::string_view extension) {
    const PartitionSpec* spec = metadata_->FindSpec(request_.spec_id);
    const std::string folder =
        spec == nullptr ? std::string() : spec->PathOf(metadata_->schema(), request_.partition);
    std::string name = std::to_string(++files_);
    name = "00000-" + std::string(5 - std::min<std::size_t>(name.size(), 5), '0') + name + "-" +
           operation_id_ + "-deletes." + std::string(extension);
    Location location = locations_.NewDataLocation(folder, name);
    written_.push_back(location);
    return location;
  }

  void Describe(DataFile& file) const {
    file.content = FileContent::kPositionDeletes;
    file.spec_id = request_.spec_id;
    file.partition = request_.partition;
    file.sort_order_id.reset();  // the spec wants none for position deletes
  }

  // ---- Files of rows

  struct OpenFile {
    std::unique_ptr<FileWriter> writer;
    SequenceNumber sequence_number{0};
    std::string first_path;
    int paths = 0;
  };

  Status WriteFiles() {
    IW_ASSIGN(plan_, PlanOf(metadata_));
    IW_ASSIGN(arrow_schema_, ToArrowSchema(plan_->schema));
    pool_ = MakePool(run_);
    std::optional<OpenFile> open;
    for (const auto& [path, positions] : positions_) {
      std::vector<std::int64_t> rows;
      rows.reserve(static_cast<std::size_t>(std::min(kBatchRows, positions.bitmap.cardinality())));
      Status status;
      bool starts = true;
      const auto flush = [&]() -> Status {
        IW_TRY(run_.Check());
        if (!open) {
          IW_ASSIGN(open, Open());
          starts = true;
        }
        if (starts) {
          starts = false;
          if (open->paths++ == 0) open->first_path = path;
          open->sequence_number = std::max(open->sequence_number, positions.newest);
        }
        IW_TRY(WriteRows(*open->writer, path, rows));
        rows.clear();
        if (open->writer->estimated_bytes() >= request_.roll_at_bytes) IW_TRY(CloseFile(open));
        return {};
      };
      positions.bitmap.ForEach([&](std::int64_t position) {
        rows.push_back(position);
        if (std::ssize(rows) >= kBatchRows && status) status = flush();
      });
      IW_TRY(status);
      if (!rows.empty()) IW_TRY(flush());
      if (request_.file_per_data_file && open) IW_TRY(CloseFile(open));
    }
    return open ? CloseFile(open) : Status();
  }

  Result<OpenFile> Open() {
    const std::string_view extension = plan_->format == FileFormat::kParquet ? "parquet"
                                       : plan_->format == FileFormat::kAvro  ? "avro"
                                                                             : "orc";
    OpenFile open;
    IW_ASSIGN(open.writer, CreateFileWriter(run_, plan_, *io_, NewLocation(extension), pool_));
    return open;
  }

  Status WriteRows(FileWriter& writer, const std::string& path,
                   const std::vector<std::int64_t>& rows) {
    arrow::StringBuilder paths(pool_.get());
    arrow::Int64Builder positions(pool_.get());
    for (const std::int64_t row : rows) {
      IW_TRY(CheckArrow(paths.Append(path)));
      IW_TRY(CheckArrow(positions.Append(row)));
    }
    std::shared_ptr<arrow::Array> columns[2];
    IW_TRY(CheckArrow(paths.Finish(&columns[0])));
    IW_TRY(CheckArrow(positions.Finish(&columns[1])));
    const auto batch =
        arrow::RecordBatch::Make(arrow_schema_, std::ssize(rows), {columns[0], columns[1]});
    return writer.Write(run_, *batch);
  }

  Status CloseFile(std::optional<OpenFile>& open) {
    IW_ASSIGN(DataFile file, open->writer->Close(run_));
    Describe(file);
    if (open->paths == 1) file.referenced_data_file = Location(open->first_path);
    result_.added.push_back({std::move(file), open->sequence_number});
    open.reset();
    return {};
  }

  // ---- Deletion vectors

  Status WriteVectors() {
    DeletionVectorWriter writer(*metadata_, io_, operation_id_);
    DataFile target;  // as much as a vector needs to know
    target.spec_id = request_.spec_id;
    target.partition = request_.partition;
    for (const auto& [path, positions] : positions_) {
      IW_TRY(run_.Check());
      target.file_path = Location(path);
      IW_TRY(writer.Add(target, positions.bitmap));
    }
    IW_ASSIGN(std::vector<DataFile> vectors, writer.Finish());
    auto source = positions_.begin();
    for (DataFile& vector : vectors) {
      result_.added.push_back({std::move(vector), (source++)->second.newest});
    }
    return {};
  }

  RunContext& run_;
  const std::shared_ptr<FileIO>& io_;
  const std::shared_ptr<const TableMetadata>& metadata_;
  const PositionDeletesRequest& request_;
  const std::string& operation_id_;
  const LocationProvider locations_;
  int files_ = 0;
  ByPath positions_;
  std::shared_ptr<const WritePlan> plan_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  std::shared_ptr<arrow::MemoryPool> pool_;
  std::vector<Location> written_;
  RewrittenPositionDeletes result_;
};

}  // namespace

Result<RewrittenPositionDeletes> RewritePositionDeleteFiles(
    RunContext& run, const std::shared_ptr<FileIO>& io,
    const std::shared_ptr<const TableMetadata>& metadata, const PositionDeletesRequest& request,
    const std::string& operation_id) {
  return GroupRewriter(run, io, metadata, request, operation_id).Rewrite();
}

}  // namespace icewright
