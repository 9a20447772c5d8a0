#include "data/row_keys.h"

#include <utility>

#include "base/executor.h"
#include "data/arrow_bridge.h"
#include "data/batch_reader.h"
#include "data/delete_cache.h"
#include "data/projected_file.h"

namespace icewright {
namespace {

using Arrays = std::vector<std::shared_ptr<arrow::Array>>;

/// Calls visit(batch, arrays of the keys' fields) until the file ends.
template <typename Visit>
Status VisitBatches(RunContext& run, FileIO& io, const DataFile& file, ProjectedFileOptions options,
                    Visit visit) {
  const std::size_t columns = options.wanted.size();
  IW_ASSIGN(ProjectedFile reader,
            ProjectedFile::Open(run, io, file, std::move(options), MakePool(run)));
  for (;;) {
    IW_TRY(run.Check());
    IW_ASSIGN(const std::optional<SourceBatch> batch, reader.Next(run));
    if (!batch) return {};
    if (batch->skipped) continue;
    Arrays arrays;
    for (std::size_t i = 0; i < columns; ++i) {
      IW_ASSIGN(auto column, reader.Column(i, *batch));
      arrays.push_back(std::move(column));
    }
    IW_TRY(visit(*batch, arrays).Within(reader.step()));
  }
}

}  // namespace

struct RowKeys::Rep {
  std::shared_ptr<const ReadPlan> plan;
  std::shared_ptr<FileIO> io;
  KeyColumns columns;
  std::string layout;
  std::unique_ptr<EqualityGroup> only = {};

  ProjectedFileOptions Options() const {
    return {.wanted = columns.fields(),
            .name_mapping = plan->name_mapping,
            .schema = plan->metadata->schema(),
            .batch_rows = plan->batch_rows};
  }
};

RowKeys::RowKeys(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
RowKeys::RowKeys(RowKeys&&) noexcept = default;
RowKeys& RowKeys::operator=(RowKeys&&) noexcept = default;
RowKeys::~RowKeys() = default;

Result<RowKeys> RowKeys::Make(std::shared_ptr<const TableMetadata> metadata,
                              std::shared_ptr<FileIO> io, const std::vector<FieldId>& ids) {
  IW_ASSIGN(KeyColumns columns, KeyColumns::Make(*metadata, ids));
  std::string layout;
  for (const Field& field : columns.fields()) {
    layout += std::to_string(Raw(field.id)) + ":" + field.type.ToString() + ";";
  }
  layout += metadata->Property("schema.name-mapping.default").value_or("");
  IW_ASSIGN(auto plan, MakeReadPlan(std::move(metadata), Schema(std::vector<Field>())));
  return RowKeys(std::make_unique<Rep>(Rep{.plan = std::move(plan),
                                           .io = std::move(io),
                                           .columns = std::move(columns),
                                           .layout = std::move(layout)}));
}

const std::string& RowKeys::layout() const { return rep_->layout; }

Status RowKeys::KeepOnly(RunContext& run, const std::vector<DataFile>& deletes) {
  auto only = std::make_unique<EqualityGroup>(rep_->columns, KeyShare(), run.memory());
  std::int64_t keys = 0;
  for (const DataFile& file : deletes) keys += file.record_count;
  only->Expect(keys);
  IW_TRY(ParallelFor(run, deletes.size(), run.threads(), [&](std::size_t i) {
    // Any number above that of the rows below.
    return only->Load(run, *rep_->io, *rep_->plan,
                      {.file = deletes[i], .sequence_number = SequenceNumber{1}});
  }));
  rep_->only = std::move(only);
  return {};
}

Status RowKeys::VisitRows(RunContext& run, const DataFile& data_file, const Visit& visit) const {
  ProjectedFileOptions options = rep_->Options();
  options.constants = ConstantsOf(*rep_->plan->metadata, data_file);
  if (rep_->only != nullptr) options.only_with = rep_->only->Filter();
  Bytes key;
  const auto batch_rows = [&](const SourceBatch& batch, const Arrays& arrays) -> Status {
    const KeyRows rows(rep_->columns, arrays);
    Selection others(batch.rows);
    if (rep_->only != nullptr) {
      IW_TRY(rep_->only->Apply(arrays, SequenceNumber{0}, others));
      if (others.all()) return {};
    }
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      if (rep_->only != nullptr && others.Keeps(i)) continue;
      key.clear();
      rows.Encode(i, key);
      IW_TRY(visit(batch.first_row + i, key));
    }
    return {};
  };
  return VisitBatches(run, *rep_->io, data_file, std::move(options), batch_rows);
}

Status RowKeys::VisitDeletes(RunContext& run, const DataFile& deletes, const Visit& visit) const {
  ProjectedFileOptions options = rep_->Options();
  options.all_required = true;
  Bytes key;
  const auto batch_rows = [&](const SourceBatch& batch, const Arrays& arrays) -> Status {
    const KeyRows rows(rep_->columns, arrays);
    for (std::int64_t i = 0; i < batch.rows; ++i) {
      key.clear();
      rows.Encode(i, key);
      IW_TRY(visit(batch.first_row + i, key));
    }
    return {};
  };
  return VisitBatches(run, *rep_->io, deletes, std::move(options), batch_rows);
}

}  // namespace icewright
