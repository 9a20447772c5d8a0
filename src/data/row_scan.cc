#include "data/row_scan.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "codec/json.h"
#include "data/arrow_bridge.h"
#include "data/arrow_values.h"
#include "data/batch_reader.h"
#include "data/row_json.h"

namespace icewright {
namespace {

const std::vector<Field>& ReservedFields() {
  static const std::vector<Field> fields = {
      {.id = kRowIdField, .name = "_row_id", .type = Type::Of(TypeId::kLong)},
      {.id = kLastUpdatedSequenceNumberField,
       .name = "_last_updated_sequence_number",
       .type = Type::Of(TypeId::kLong)},
      {.id = kFilePathField, .name = "_file", .type = Type::Of(TypeId::kString)},
      {.id = kRowPositionField, .name = "_pos", .type = Type::Of(TypeId::kLong)}};
  return fields;
}

const Field* FindName(const std::vector<Field>& fields, const std::string& name) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&name](const Field& field) { return field.name == name; });
  return it == fields.end() ? nullptr : &*it;
}

bool HasColumn(const std::vector<Field>& fields, FieldId id) {
  return std::any_of(fields.begin(), fields.end(),
                     [id](const Field& field) { return field.id == id; });
}

/// The columns that are shown, then those that only the filter needs.
struct ScanColumns {
  Schema projection;
  std::size_t shown = 0;
};

Result<ScanColumns> ChooseColumns(const Schema& schema, const RowScanOptions& options) {
  std::vector<Field> fields;
  if (options.columns.empty()) fields = schema.fields();
  for (const std::string& name : options.columns) {
    const Field* field = FindName(schema.fields(), name);
    if (field == nullptr) field = FindName(ReservedFields(), name);
    if (field == nullptr) return Error(Code::kInvalidArgument, "there is no column '" + name + "'");
    fields.push_back(*field);
  }
  const std::size_t shown = fields.size();
  for (const FieldId id : options.filter.Fields()) {
    const Field* column = schema.TopLevelOf(id);
    if (column == nullptr) {
      return Error(Code::kInvalidArgument,
                   "the filter names field " + ToString(id) + ", which is not in the schema");
    }
    if (!HasColumn(fields, column->id)) fields.push_back(*column);
  }
  return ScanColumns{Schema(std::move(fields)), shown};
}

/// The filter on rows of one batch.
class RowFilter {
 public:
  static Result<RowFilter> Make(const Expression& filter, const Schema& projection) {
    RowFilter out;
    out.filter_ = filter;
    for (const FieldId id : filter.Fields()) {
      const auto path = PathOfField(projection, id);
      if (!path) {
        return Error(Code::kInvalidArgument,
                     "a filter cannot look into the list or map that holds '" +
                         std::string(projection.NameOf(id)) + "'");
      }
      out.paths_.emplace(Raw(id), *path);
    }
    return out;
  }

  Status Bind(const arrow::RecordBatch& batch) {
    for (const auto& [id, path] : paths_) {
      IW_ASSIGN(arrays_[id], ColumnAt(batch, path));
    }
    return {};
  }

  bool Matches(std::int64_t row) const {
    if (filter_.is_true()) return true;
    return Evaluate(filter_, [&](FieldId id) -> Literal {
      auto value = LiteralAt(*arrays_.at(Raw(id)), row);
      return value ? std::move(*value) : Literal();
    });
  }

 private:
  Expression filter_;
  std::unordered_map<std::int32_t, std::vector<int>> paths_;
  std::unordered_map<std::int32_t, std::shared_ptr<arrow::Array>> arrays_;
};

Result<Json> RowOf(const ScanColumns& columns, const arrow::RecordBatch& batch, std::int64_t row) {
  Json out = Json::array();
  for (std::size_t i = 0; i < columns.shown; ++i) {
    IW_ASSIGN(Json value, ValueToJson(columns.projection.fields()[i].type,
                                      *batch.column(static_cast<int>(i)), row));
    out.push_back(std::move(value));
  }
  return out;
}

}  // namespace

Status ScanRows(RunContext& run, FileIO& io, const TableMetadata& metadata, const Schema& schema,
                const std::vector<FileTask>& tasks, const RowScanOptions& options,
                const std::function<Status(const Json&)>& visit) {
  // Borrowed: everything here ends before the call does.
  const std::shared_ptr<FileIO> shared_io(std::shared_ptr<void>(), &io);
  const std::shared_ptr<const TableMetadata> shared_metadata(std::shared_ptr<void>(), &metadata);
  const auto pool = MakePool(run);  // first: the filter keeps columns of the last batch
  IW_ASSIGN(const ScanColumns columns, ChooseColumns(schema, options));
  IW_ASSIGN(auto plan, MakeReadPlan(shared_metadata, columns.projection));
  IW_ASSIGN(RowFilter filter, RowFilter::Make(options.filter, columns.projection));
  const auto deletes = MakeDeleteCache(plan, shared_io);
  std::int64_t left = options.limit.value_or(std::numeric_limits<std::int64_t>::max());
  for (const FileTask& task : tasks) {
    if (left <= 0) return {};
    IW_ASSIGN(auto reader, OpenTask(run, plan, shared_io, deletes, task, pool));
    while (left > 0) {
      IW_ASSIGN(auto batch, reader->Next(run));
      if (batch == nullptr) break;
      IW_TRY(filter.Bind(*batch));
      for (std::int64_t row = 0; row < batch->num_rows() && left > 0; ++row) {
        if (!filter.Matches(row)) continue;
        IW_ASSIGN(const Json json, RowOf(columns, *batch, row));
        IW_TRY(visit(json));
        --left;
      }
    }
  }
  return {};
}

}  // namespace icewright
