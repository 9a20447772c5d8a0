#pragma once

/// \file maintain/rewrite_test_table.h
/// A table with rows, small enough to rewrite hundreds of times. For tests only.
///
///   RewriteTestTable table({.format_version = 3});
///   const DataFile a = table.Rows("a", {1, 2, 3});
///   table.Commit({.added_data_files = {{a}}});
///   table.Commit({.operation = "delete", .added_delete_files = {{table.DvOf("d", a, {0})}}});

#include <algorithm>
#include <string>
#include <vector>

#include "codec/avro/container.h"
#include "codec/json.h"
#include "codec/position_bitmap.h"
#include "data/row_scan.h"
#include "maintain/expire_test_table.h"
#include "maintain/rewrite_data_files.h"
#include "scan/plan_files.h"

namespace icewright {

/// Columns are id and cat; a row of id N has the cat "cN". Files are Avro, so that a test needs no
/// encoder of columns.
class RewriteTestTable : public ExpireTestTable {
 public:
  using ExpireTestTable::ExpireTestTable;

  // ---- Files with rows

  DataFile Rows(const std::string& name, const std::vector<int>& ids) {
    return WriteAvro(name, R"({"name": "id", "type": "long", "field-id": 1},
                               {"name": "cat", "type": "string", "field-id": 2})",
                     ids.size(), [&](avro::Encoder out, std::size_t i) {
                       out.WriteLong(ids[i]);
                       out.WriteBytes("c" + std::to_string(ids[i]));
                     });
  }

  DataFile DeleteIds(const std::string& name, const std::vector<int>& ids) {
    DataFile file = WriteAvro(name, R"({"name": "id", "type": "long", "field-id": 1})", ids.size(),
                              [&](avro::Encoder out, std::size_t i) { out.WriteLong(ids[i]); });
    file.content = FileContent::kEqualityDeletes;
    file.equality_ids = {FieldId{1}};
    return file;
  }

  /// For format version 2.
  DataFile DeletePositions(const std::string& name, const DataFile& of,
                           const std::vector<int>& positions) {
    DataFile file =
        WriteAvro(name, R"({"name": "file_path", "type": "string", "field-id": 2147483546},
                            {"name": "pos", "type": "long", "field-id": 2147483545})",
                  positions.size(), [&](avro::Encoder out, std::size_t i) {
                    out.WriteBytes(of.file_path.text());
                    out.WriteLong(positions[i]);
                  });
    file.content = FileContent::kPositionDeletes;
    file.referenced_data_file = of.file_path;
    return file;
  }

  /// For format version 3.
  DataFile DvOf(const std::string& name, const DataFile& of, const std::vector<int>& positions) {
    PositionBitmap bitmap;
    for (const int position : positions) bitmap.Add(position);
    const Bytes blob = bitmap.SerializeDeletionVector();
    DataFile file = Store(name, "PFA1" + blob + "rest of the Puffin file");
    file.content = FileContent::kPositionDeletes;
    file.file_format = FileFormat::kPuffin;
    file.referenced_data_file = of.file_path;
    file.content_offset = 4;
    file.content_size_in_bytes = static_cast<std::int64_t>(blob.size());
    file.record_count = bitmap.cardinality();
    return file;
  }

  // ---- Compaction

  Status Rewrite(const RewriteDataFilesOptions& options) {
    Table table = Load();
    return RewriteLoaded(table, options);
  }
  Status RewriteLoaded(Table& table, const RewriteDataFilesOptions& options) {
    report = {};
    return RewriteDataFiles(options).Execute(run(), table, report);
  }

  /// Messages of what the last run reported as failed.
  std::vector<std::string> Failures() const {
    std::vector<std::string> messages;
    for (const Error& error : report.failures) messages.push_back(error.message());
    return messages;
  }

  // ---- The oracle

  /// Live rows as JSON, sorted; from format version 3 on with row id and last-updated number.
  std::vector<std::string> LiveRows(const std::string& branch = "main") {
    std::vector<std::string> columns = {"id", "cat"};
    if (Load().metadata().format_version >= 3) {
      columns.insert(columns.end(), {"_row_id", "_last_updated_sequence_number"});
    }
    return LiveColumns(columns, branch);
  }
  std::vector<std::string> LiveColumns(const std::vector<std::string>& columns,
                                       const std::string& branch = "main") {
    const Table table = Load();
    const TableMetadata& metadata = table.metadata();
    const Snapshot* head = metadata.FindRef(branch);
    EXPECT_NE(head, nullptr);
    std::vector<FileTask> tasks;
    EXPECT_THAT(PlanFiles(run(), io(), metadata, *head, {},
                          [&](FileTask&& task) -> Status {
                            tasks.push_back(std::move(task));
                            return {};
                          }),
                IsOk());
    std::vector<std::string> rows;
    EXPECT_THAT(ScanRows(run(), io(), metadata, metadata.schema(), tasks, {.columns = columns},
                         [&](const Json& row) -> Status {
                           rows.push_back(DumpJson(row));
                           return {};
                         }),
                IsOk());
    std::ranges::sort(rows);
    return rows;
  }

  /// Names of the live data files of a branch, sorted; files with random names show as "new".
  std::vector<std::string> LiveNames(const std::string& branch = "main") {
    std::vector<std::string> names;
    for (const DataFile& file : Live(branch)) {
      if (file.content != FileContent::kData) continue;
      const std::string name(file.file_path.file_name());
      names.push_back(name.ends_with(".parquet") ? "new" : name);
    }
    std::ranges::sort(names);
    return names;
  }

 protected:
  DataFile Store(const std::string& name, const Bytes& bytes) {
    DataFile file = MakeDataFile(PathOf(name).text());
    EXPECT_THAT(WriteFile(io(), file.file_path, bytes, CreateMode::kNew), IsOk());
    file.file_size_in_bytes = static_cast<std::int64_t>(bytes.size());
    return file;
  }

  template <typename WriteRow>
  DataFile WriteAvro(const std::string& name, const std::string& fields, std::size_t count,
                     const WriteRow& write) {
    MemorySink sink;
    avro::ContainerWriter::Options options;
    options.compression = Compression::kNone;
    options.sync_marker = "0123456789abcdef";
    auto writer = avro::ContainerWriter::Open(
        sink, R"({"type": "record", "name": "table", "fields": [)" + fields + "]}", {}, options);
    EXPECT_THAT(writer, IsOk());
    for (std::size_t i = 0; i < count; ++i) {
      write(writer->encoder(), i);
      EXPECT_THAT(writer->EndRecord(), IsOk());
    }
    EXPECT_THAT(writer->Finish(), IsOk());
    DataFile file = Store(name, sink.bytes());
    file.file_format = FileFormat::kAvro;
    file.record_count = static_cast<std::int64_t>(count);
    return file;
  }
};

}  // namespace icewright
