#include "maintain/compute_table_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"
#include "catalog/metadata_files.h"
#include "codec/compression.h"
#include "codec/puffin.h"
#include "data/column_sketches.h"
#include "maintain/statistics_commit.h"
#include "maintain/transient_retry.h"
#include "scan/plan_files.h"

namespace icewright {
namespace {

using Options = ComputeTableStatsOptions;

constexpr std::string_view kBlobType = "apache-datasketches-theta-v1";
constexpr std::string_view kNdvProperty = "ndv";
constexpr std::string_view kCreatedBy = "icewright version 0.1.0";
constexpr std::size_t kTasksPerRound = 256;

constexpr OptionField<Options> kFields[] = {
    {"columns", &Options::columns,
     "count distinct values of these: a,b.c; default: all top-level primitive columns"},
    {"snapshot-id", &Options::snapshot_id, "of this snapshot; default: the head of the branch"},
    {"branch", &Options::branch, "of the head of this branch; default: main"},
    {"dry-run", &Options::dry_run, "show what would be read, write nothing"},
};

struct ChosenColumn {
  FieldId id{};
  std::string name;
};

Result<ChosenColumn> FindColumn(const Schema& schema, const std::string& name) {
  const Field* field = schema.Find(name);
  if (field == nullptr) {
    std::vector<std::string_view> known;
    for (const Field& column : schema.fields()) known.push_back(column.name);
    return Error(Code::kInvalidArgument,
                 fmt::format("columns: there is no column '{}'{}", name, DidYouMean(name, known)));
  }
  if (!field->type.is_primitive()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("columns: '{}' is a {}; only primitive columns have numbers of "
                             "distinct values",
                             name, field->type.ToString()));
  }
  return ChosenColumn{field->id, name};
}

Result<std::vector<ChosenColumn>> ChooseColumns(const Schema& schema, std::string_view text) {
  std::vector<ChosenColumn> out;
  if (text.empty()) {
    for (const Field& field : schema.fields()) {
      if (field.type.is_primitive()) out.push_back({field.id, field.name});
    }
    if (!out.empty()) return out;
    return Error(Code::kInvalidArgument,
                 "no top-level column is primitive; name nested ones with columns");
  }
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    IW_ASSIGN(ChosenColumn column, FindColumn(schema, std::string(name)));
    const auto same = [&](const ChosenColumn& other) { return other.id == column.id; };
    if (std::ranges::none_of(out, same)) out.push_back(std::move(column));
  }
  return out;
}

/// One call of Execute. Single-threaded.
class TableStats {
 public:
  TableStats(RunContext& run, Table& table, const Options& options, TaskReport& report)
      : run_(run), table_(table), options_(options), report_(report) {}

  Status Run() {
    for (const char* key : {"columns-count", "data-files-count", "delete-files-count", "rows-count",
                            "read-bytes", "statistics-bytes"}) {
      report_.counts[key] = 0;
    }
    IW_ASSIGN(snapshot_, SnapshotForStatistics(table_, options_.snapshot_id, options_.branch,
                                               options_.dry_run));
    if (snapshot_ == nullptr) {
      report_.outcome = TaskOutcome::kNothingToDo;
      report_.reason = "there is no snapshot";
      return {};
    }
    const Schema& schema = table_.metadata().SchemaOf(*snapshot_);
    IW_ASSIGN(columns_, ChooseColumns(schema, options_.columns));
    report_.counts["columns-count"] = std::ssize(columns_);
    if (options_.dry_run) {
      IW_TRY(ForEachRound(schema, [](std::span<const FileTask>) { return Status(); }));
      for (const ChosenColumn& column : columns_) report_.items.push_back({column.name, {}});
      report_.outcome = TaskOutcome::kPlanned;
      return {};
    }
    IW_TRY(Sketch(schema));
    IW_ASSIGN(const StatisticsFile file, Write());
    return CommitStatistics(run_, table_, file, report_);
  }

 private:
  /// A bounded number of files at a time, so that a table of any size fits.
  Status ForEachRound(const Schema& schema,
                      const std::function<Status(std::span<const FileTask>)>& visit) {
    run_.progress().Enter("read columns", "files");
    std::vector<FileTask> round;
    const auto flush = [&]() -> Status {
      IW_TRY(visit(round));
      run_.progress().Advance(std::ssize(round));
      round.clear();
      return {};
    };
    const PlanOptions plan{.schema = &schema};
    const auto add = [&](FileTask&& task) -> Status {
      ++report_.counts["data-files-count"];
      report_.counts["read-bytes"] += task.data_file.file_size_in_bytes;
      round.push_back(std::move(task));
      return round.size() < kTasksPerRound ? Status() : flush();
    };
    IW_ASSIGN(const PlanSummary summary,
              PlanFiles(run_, table_.io(), table_.metadata(), *snapshot_, plan, add));
    report_.counts["delete-files-count"] = summary.delete_files;
    return flush();
  }

  Status Sketch(const Schema& schema) {
    std::vector<FieldId> ids;
    for (const ChosenColumn& column : columns_) ids.push_back(column.id);
    IW_ASSIGN(const auto sketches, ColumnSketches::Make(run_, table_.shared_io(),
                                                        table_.shared_metadata(), schema, ids));
    IW_TRY(ForEachRound(
        schema, [&](std::span<const FileTask> tasks) { return sketches->Add(run_, tasks); }));
    report_.counts["rows-count"] = sketches->rows();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ThetaSketch& sketch = sketches->sketches()[i];
      const std::int64_t ndv = sketch.Estimate();
      report_.items.push_back({columns_[i].name, {{"ndv", ndv}}});
      blobs_.push_back({.data = sketch.Serialize(), .ndv = ndv});
    }
    return {};
  }

  Result<StatisticsFile> Write() {
    IW_TRY(run_.CheckMayWrite());
    StatisticsFile out;
    out.snapshot_id = snapshot_->id;
    out.statistics_path =
        MetadataFolderOf(table_.metadata())
            .Child(fmt::format("{}-{}.stats", Raw(snapshot_->id), run_.random().NewUuid()));
    IW_ASSIGN(auto file, table_.io().Create(out.statistics_path, CreateMode::kNew));
    PuffinWriter writer(*file, std::string(kCreatedBy));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::map<std::string, std::string> properties = {
          {std::string(kNdvProperty), std::to_string(blobs_[i].ndv)}};
      IW_ASSIGN(const Bytes compressed, Compress(Compression::kZstd, blobs_[i].data));
      PuffinBlob blob{.type = std::string(kBlobType),
                      .fields = {columns_[i].id},
                      .snapshot_id = snapshot_->id,
                      .sequence_number = snapshot_->sequence_number,
                      .compression_codec = "zstd",
                      .properties = properties};
      IW_TRY(writer.Add(std::move(blob), compressed));
      out.blob_metadata.push_back({.type = std::string(kBlobType),
                                   .snapshot_id = snapshot_->id,
                                   .sequence_number = snapshot_->sequence_number,
                                   .fields = {columns_[i].id},
                                   .properties = properties});
    }
    IW_ASSIGN(out.file_footer_size_in_bytes, writer.Finish());
    out.file_size_in_bytes = writer.bytes_written();
    report_.counts["statistics-bytes"] = out.file_size_in_bytes;
    if (const Status closed = file->Close(); !closed) {
      // The answer may be lost although the file is there.
      if (!table_.io().Delete(out.statistics_path)) {
        report_.leftovers.push_back(out.statistics_path);
      }
      return closed.error().Within("write " + out.statistics_path.text());
    }
    return out;
  }

  struct Blob {
    Bytes data;
    std::int64_t ndv = 0;
  };

  RunContext& run_;
  Table& table_;
  const Options& options_;
  TaskReport& report_;
  const Snapshot* snapshot_ = nullptr;
  std::vector<ChosenColumn> columns_;
  std::vector<Blob> blobs_;
};

}  // namespace

std::span<const OptionField<ComputeTableStatsOptions>> ComputeTableStatsFields() { return kFields; }

Status ComputeTableStats::Execute(RunContext& run, Table& table, TaskReport& report) const {
  report = {};
  IW_TRY(RetryTransient(run, [&] { return table.Refresh(run); }));
  return TableStats(run, table, options_, report).Run();
}

}  // namespace icewright
