#pragma once

/// \file data/rewrite_test_table.h
/// For tests: groups of files of a table in memory, rewritten by the decoding engine.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "data/rewrite_engine.h"
#include "data/row_scan.h"
#include "data/write_test_table.h"

namespace icewright {

/// Adds to WriteTable what a rewrite needs. Single-threaded.
class RewriteTestTable : public WriteTable {
 public:
  using WriteTable::WriteTable;

  /// Writes a file with the table's schema of now and makes a task of it.
  FileTask Task(const std::string& name, const std::string& json, StructValue partition = {},
                SpecId spec = SpecId{0}) {
    auto file = Write(name, json);
    if (!file) {
      ADD_FAILURE() << file.error().message();
      return {};
    }
    file->partition = std::move(partition);
    file->spec_id = spec;
    return {.data_file = std::move(*file), .deletes = {}};
  }

  /// A position delete file for one data file.
  std::shared_ptr<const DeleteTask> DeletePositions(const std::string& name, const DataFile& file,
                                                    const std::vector<int>& positions) {
    const Schema schema(
        {MakeField(Raw(kDeleteFilePathField), "file_path", Type::Of(TypeId::kString), true),
         MakeField(Raw(kDeleteFilePosField), "pos", Type::Of(TypeId::kLong), true)});
    std::string json;
    for (const int position : positions) {
      json += (json.empty() ? "[[\"" : ",[\"") + file.file_path.text() + "\"," +
              std::to_string(position) + "]";
    }
    auto writer = Open(name, schema);
    EXPECT_THAT(writer, IsOk());
    EXPECT_THAT((*writer)->Write(run(), *RowsOf(schema, json + "]")), IsOk());
    auto written = (*writer)->Close(run());
    EXPECT_THAT(written, IsOk());
    auto task = std::make_shared<DeleteTask>();
    task->file = std::move(*written);
    task->file.content = FileContent::kPositionDeletes;
    task->sequence_number = SequenceNumber{2};
    return task;
  }

  Result<RewrittenGroup> Rewrite(RunContext& with, const RewriteGroupRequest& request,
                                 std::shared_ptr<FileIO> through = nullptr,
                                 EngineChoice choice = EngineChoice::kDecode) {
    auto engine = MakeEngine(choice, shared(), through ? std::move(through) : io(), operation_);
    if (!engine) return engine.error();
    return (*engine)->Rewrite(with, request);
  }
  Result<RewrittenGroup> Rewrite(const RewriteGroupRequest& request) {
    return Rewrite(run(), request);
  }

  /// Part of the names of the next files.
  void SetOperation(std::string id) { operation_ = std::move(id); }

  /// Rows of files as JSON arrays, in order.
  std::vector<std::string> Rows(const std::vector<DataFile>& files,
                                const std::vector<std::string>& columns = {}) {
    std::vector<FileTask> tasks;
    for (const DataFile& file : files) tasks.push_back({.data_file = file, .deletes = {}});
    std::vector<std::string> rows;
    const Status status = ScanRows(run(), *io(), metadata(), schema(), tasks, {.columns = columns},
                                   [&](const Json& row) -> Status {
                                     rows.push_back(DumpJson(row));
                                     return {};
                                   });
    EXPECT_THAT(status, IsOk());
    return rows;
  }

 private:
  std::string operation_ = "op";
};

inline RewriteGroupRequest RequestOf(std::vector<FileTask> tasks) {
  RewriteGroupRequest request;
  request.tasks = std::move(tasks);
  request.roll_at_bytes = std::int64_t{1} << 20;
  return request;
}

/// [[first, "x"], ...] of `count` rows: for tables of an id and a text.
inline std::string NumberedRows(int first, int count, const std::string& text = "x") {
  std::string json;
  for (int i = first; i < first + count; ++i) {
    json += (json.empty() ? "[[" : ",[") + std::to_string(i) + ",\"" + text + "\"]";
  }
  return json + "]";
}

inline Schema IdAndText() {
  return MakeSchema({{1, "id", TypeId::kLong}, {2, "s", TypeId::kString}});
}

}  // namespace icewright
