#pragma once

/// \file data/splice/file_builder.h
/// A Parquet file out of chunks that are already written: indexes, footer, and its manifest entry.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/splice/facts.h"
#include "data/splice/layout.h"
#include "io/file_io.h"

namespace icewright::splice {

/// One column of a row group, and what the manifest says of it.
struct WrittenColumn {
  OutputChunk chunk;
  ColumnFacts facts;
};

/// Destruction without Close removes the file. Single-threaded.
class FileBuilder {
 public:
  static Result<std::unique_ptr<FileBuilder>> Open(std::shared_ptr<const Layout> layout, FileIO& io,
                                                   const Location& location);

  /// Chunks of a row group are appended here, in the order of columns, each followed by AddColumn.
  ByteSink& sink() { return *file_; }
  void BeginGroup();
  void AddColumn(WrittenColumn column);
  /// Errors: kInternal if a column has not these rows.
  Status EndGroup(std::int64_t rows);

  std::int64_t bytes_written() const { return file_->bytes_written(); }

  /// Partition and spec of the result are the caller's to fill in.
  Result<DataFile> Close(RunContext& run);

 private:
  struct Column {
    OutputChunk chunk;
    std::int64_t offset = 0;  // of the chunk in the file
    FileRange column_index = {}, offset_index = {}, bloom = {};
  };
  struct Group {
    std::vector<Column> columns;
    std::int64_t rows = 0;
  };

  FileBuilder(std::shared_ptr<const Layout> layout, std::unique_ptr<OutputFile> file)
      : layout_(std::move(layout)), file_(std::move(file)), facts_(layout_->columns.size()) {}

  Status WriteBlooms();
  Status WriteIndexes(RunContext& run);
  Status WriteColumnIndexes();
  Status Append(FileRange& range);
  void WriteChunk(ThriftWriter& w, const Column& column, const OutputColumn& out) const;
  Bytes Footer() const;
  DataFile Describe() const;

  const std::shared_ptr<const Layout> layout_;
  std::unique_ptr<OutputFile> file_;
  std::vector<ColumnFacts> facts_;
  std::vector<Group> groups_;
  std::int64_t rows_ = 0;
  std::int64_t chunk_start_ = 0;
  Bytes scratch_;
};

}  // namespace icewright::splice
