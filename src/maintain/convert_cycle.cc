#include "maintain/convert_cycle.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "data/deletion_vector_writer.h"
#include "maintain/delete_resolver.h"
#include "maintain/staging_history.h"

namespace icewright {
namespace {

/// From resolved rows and staged vectors to the vectors that the target gets.
class VectorMerge {
 public:
  VectorMerge(RunContext& run, const Table& table, const ConvertWork& work,
              DeleteResolver& resolver)
      : run_(run), table_(table), work_(work), resolver_(resolver) {}

  /// `update` gets the vectors that come and the deletes that go.
  Status Run(std::vector<Location>& written, SnapshotUpdate& update, ConvertCounts& counts) {
    IW_ASSIGN(resolved_, resolver_.Resolve(run_, table_, work_));
    for (const ResolvedFile& file : resolved_) counts.resolved_deletes += file.resolved();
    IW_TRY(AddStagedVectors(update));
    IW_ASSIGN(const std::vector<DataFile> vectors, Write(written));
    for (const DataFile& vector : vectors) update.added_delete_files.push_back({.file = vector});
    for (const ResolvedFile& file : resolved_) ReplaceOld(work_.tasks[file.task], update, counts);
    counts.added_dvs = std::ssize(update.added_delete_files);
    return {};
  }

 private:
  /// A staged vector is taken as it is, unless the target has deletes for the same file.
  Status AddStagedVectors(SnapshotUpdate& update) {
    if (work_.vectors.empty()) return {};
    std::unordered_map<Location, std::size_t> task_of;
    for (std::size_t i = 0; i < work_.tasks.size(); ++i) {
      task_of.emplace(work_.tasks[i].data_file.file_path, i);
    }
    IW_ASSIGN(const DroppedRowFinder finder,
              DroppedRowFinder::Make(table_.shared_metadata(), table_.shared_io()));
    for (const DataFile& vector : work_.vectors) {
      const auto path = ReferencedDataFile(vector);
      const auto found = path ? task_of.find(*path) : task_of.end();
      if (found == task_of.end()) {
        update.added_delete_files.push_back({.file = vector});
      } else {
        IW_TRY(Fold(finder, vector, found->second));
      }
    }
    return {};
  }

  /// Adds the vector's positions to what the target has for the file.
  Status Fold(const DroppedRowFinder& finder, const DataFile& vector, std::size_t number) {
    FileTask staged = work_.tasks[number];
    auto deletes = std::make_shared<DeleteTask>();
    deletes->file = vector;
    deletes->sequence_number = staged.sequence_number;
    staged.deletes = {std::move(deletes)};
    IW_ASSIGN(DroppedRows rows, finder.ByPosition(run_, staged));
    auto at = std::ranges::find(resolved_, number, &ResolvedFile::task);
    if (at == resolved_.end()) {
      IW_ASSIGN(DroppedRows before, finder.ByPosition(run_, work_.tasks[number]));
      resolved_.push_back({.task = number, .rows = std::move(before)});
      at = std::prev(resolved_.end());
    }
    at->rows.positions.Merge(rows.positions);
    return at->rows.memory.Resize(at->rows.memory.bytes() + rows.memory.bytes());
  }

  Result<std::vector<DataFile>> Write(std::vector<Location>& written) {
    DeletionVectorWriter writer(table_.metadata(), table_.shared_io(), run_.random().NewUuid());
    for (const ResolvedFile& file : resolved_) {
      IW_TRY(run_.Check());
      IW_TRY(writer.Add(work_.tasks[file.task].data_file, file.rows.positions));
    }
    IW_ASSIGN(std::vector<DataFile> vectors, writer.Finish());
    if (!vectors.empty()) written.push_back(vectors.front().file_path);
    return vectors;
  }

  /// A new vector holds all that the file's position deletes said.
  static void ReplaceOld(const FileTask& task, SnapshotUpdate& update, ConvertCounts& counts) {
    for (const auto& deletes : task.deletes) {
      const DataFile& file = deletes->file;
      if (file.content != FileContent::kPositionDeletes || !ReferencedDataFile(file)) continue;
      update.removed_delete_files.push_back(file);
      if (file.is_deletion_vector()) ++counts.removed_dvs;
    }
  }

  RunContext& run_;
  const Table& table_;
  const ConvertWork& work_;
  DeleteResolver& resolver_;
  std::vector<ResolvedFile> resolved_;
};

std::string OperationOf(const SnapshotUpdate& update) {
  const bool adds_data = !update.added_data_files.empty();
  const bool adds_deletes = !update.added_delete_files.empty();
  const bool removes = !update.removed_delete_files.empty();
  if (adds_data && !adds_deletes && !removes) return "append";
  if (adds_deletes && !adds_data) return "delete";
  return "overwrite";
}

}  // namespace

Result<SnapshotUpdate> ExecuteConvertWork(RunContext& run, const Table& table,
                                          const ConvertSettings& settings, const ConvertWork& work,
                                          DeleteResolver& resolver, std::vector<Location>& written,
                                          ConvertCounts& counts) {
  SnapshotUpdate update;
  update.branch = settings.target;
  update.validate_from = work.base;
  const std::string marker = std::to_string(Raw(work.marker));
  update.properties = {{std::string(kConvertMarker), marker}};
  IW_TRY(VectorMerge(run, table, work, resolver).Run(written, update, counts));
  if (work.removes_equality_deletes) {
    update.removed_delete_files.insert(update.removed_delete_files.end(),
                                       work.equality_deletes.begin(), work.equality_deletes.end());
    update.fail_on_data_below = work.newest_delete;
  } else {
    // Somebody else's promotion of the same snapshot must not be followed by ours.
    update.exclusive_property = kConvertMarker;
    update.table_properties = {{ConvertRecordProperty(settings.target), marker}};
  }
  for (const DataFile& file : work.data_files) {
    AddedFile added{.file = file};
    added.file.first_row_id.reset();  // the target gives its own
    update.added_data_files.push_back(std::move(added));
  }
  update.operation = OperationOf(update);
  return update;
}

}  // namespace icewright
