#pragma once

/// \file maintain/position_delete_test_table.h
/// A table with position delete files that hold rows, and a naive reader of them. For tests only.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/avro/container.h"
#include "codec/position_bitmap.h"
#include "maintain/manifest_test_table.h"
#include "maintain/rewrite_position_deletes.h"
#include "table/literal.h"

namespace icewright {

class PositionDeleteTestTable : public ManifestTestTable {
 public:
  using Rows = std::vector<std::pair<std::string, std::int64_t>>;
  using Deleted = std::map<std::string, std::set<std::int64_t>>;

  using ManifestTestTable::ManifestTestTable;

  Status Merge(const RewritePositionDeletesOptions& options = {}) {
    Table table = Load();
    return MergeLoaded(table, options);
  }
  Status MergeLoaded(Table& table, const RewritePositionDeletesOptions& options = {}) {
    task = {};
    return RewritePositionDeletes(options).Execute(run(), table, task);
  }

  static Location PathOf(const std::string& name) {
    return Location("memory:/w/db/t/data/" + name);
  }

  /// Writes an Avro file of position deletes. The partition is that of the name, as in Data().
  DataFile WriteDeletes(const std::string& name, const Rows& rows, bool file_scoped = false) {
    DataFile file = PositionDeletes(name, std::ssize(rows));
    file.file_path = PathOf(name);
    file.file_format = FileFormat::kAvro;
    if (file_scoped) file.referenced_data_file = Location(rows.at(0).first);
    constexpr std::string_view kSchema =
        R"({"type":"record","name":"d","fields":[)"
        R"({"name":"file_path","type":"string","field-id":2147483546},)"
        R"({"name":"pos","type":"long","field-id":2147483545}]})";
    auto out = io().Create(file.file_path, CreateMode::kAtomicReplace);
    EXPECT_THAT(out, IsOk());
    auto writer =
        avro::ContainerWriter::Open(**out, kSchema, {}, {.sync_marker = std::string(16, 's')});
    EXPECT_THAT(writer, IsOk());
    for (const auto& [path, position] : rows) {
      writer->encoder().WriteBytes(path);
      writer->encoder().WriteLong(position);
      EXPECT_THAT(writer->EndRecord(), IsOk());
    }
    EXPECT_THAT(writer->Finish(), IsOk());
    file.file_size_in_bytes = (*out)->bytes_written();
    EXPECT_THAT((*out)->Close(), IsOk());
    return file;
  }
  void AddDeletes(const std::string& name, const Rows& rows, bool file_scoped = false) {
    const DataFile file = WriteDeletes(name, rows, file_scoped);
    MustCommit({.operation = "delete", .added_delete_files = {{file}}});
  }

  Rows ReadRows(const DataFile& file) {
    Rows rows;
    auto bytes = ReadFile(io(), file.file_path);
    EXPECT_THAT(bytes, IsOk()) << file.file_path.text();
    if (!bytes) return rows;
    auto reader = avro::ContainerReader::Open(std::make_unique<BytesSource>(*bytes), "deletes");
    EXPECT_THAT(reader, IsOk());
    avro::ContainerReader::Block block;
    while (*reader->Next(block)) {
      avro::Decoder decoder(block.data);
      for (std::int64_t i = 0; i < block.count; ++i) {
        const std::string path(decoder.ReadBytes());
        rows.emplace_back(path, decoder.ReadLong());
      }
      EXPECT_TRUE(decoder.ok());
    }
    EXPECT_EQ(std::ssize(rows), file.record_count);
    return rows;
  }

  std::set<std::int64_t> ReadVector(const DataFile& file) {
    std::set<std::int64_t> positions;
    auto bytes = ReadFile(io(), file.file_path);
    EXPECT_THAT(bytes, IsOk());
    if (!bytes) return positions;
    EXPECT_EQ(std::ssize(*bytes), file.file_size_in_bytes);
    auto bitmap = PositionBitmap::ParseDeletionVector(
        ByteView(*bytes).substr(static_cast<std::size_t>(*file.content_offset),
                                static_cast<std::size_t>(*file.content_size_in_bytes)),
        file.record_count);
    EXPECT_THAT(bitmap, IsOk());
    if (bitmap) bitmap->ForEach([&](std::int64_t position) { positions.insert(position); });
    return positions;
  }

  /// What a reader drops of each live data file, by the words of the spec.
  Deleted NaiveDeleted(const std::string& branch = "main") {
    Deleted deleted;
    const auto live = Naive(branch);
    for (const auto& [key, data] : live) {
      if (data.file.content != FileContent::kData) continue;
      const std::string path = data.file.file_path.text();
      const ManifestEntry* vector = nullptr;
      for (const auto& [other, entry] : live) {
        if (!entry.file.is_deletion_vector() || entry.file.referenced_data_file->text() != path) {
          continue;
        }
        EXPECT_EQ(vector, nullptr) << "two vectors for " << path;
        EXPECT_GE(*entry.sequence_number, *data.sequence_number);
        vector = &entry;
      }
      std::set<std::int64_t>& rows = deleted[path];
      if (vector != nullptr) {
        rows = ReadVector(vector->file);
        continue;
      }
      for (const auto& [other, entry] : live) {
        if (entry.file.content != FileContent::kPositionDeletes ||
            entry.file.is_deletion_vector() || *entry.sequence_number < *data.sequence_number ||
            !StructValueEqual{}(entry.file.partition, data.file.partition)) {
          continue;
        }
        for (const auto& [named, position] : ReadRows(entry.file)) {
          if (named == path) rows.insert(position);
        }
      }
    }
    return deleted;
  }

  std::vector<ManifestEntry> DeleteEntries() {
    std::vector<ManifestEntry> entries;
    for (auto& [key, entry] : Naive()) {
      if (entry.file.content == FileContent::kPositionDeletes) entries.push_back(std::move(entry));
    }
    return entries;
  }

  /// Without the delete files, which are Avro as well here.
  std::set<std::string> Unsound() {
    std::set<std::string> unsound = ManifestTestTable::Unsound();
    std::erase_if(unsound, [](const std::string& file) {
      return file.find("/t/data/") != std::string::npos;
    });
    return unsound;
  }

  /// Files of the data folder that no live or older entry names.
  std::set<std::string> UnnamedDataFiles() {
    std::set<std::string> files;
    EXPECT_THAT(io().List(Location("memory:/w/db/t/data"),
                          [&](const FileStatus& file) -> Status {
                            files.insert(file.location.text());
                            return {};
                          }),
                IsOk());
    const Table table = Load();
    for (const Snapshot& snapshot : table.metadata().snapshots) {
      for (const ManifestFile& manifest : Manifests(snapshot)) {
        for (const ManifestEntry& entry : Entries(manifest)) {
          files.erase(entry.file.file_path.text());
        }
      }
    }
    return files;
  }

 private:
  class BytesSource final : public ByteSource {
   public:
    explicit BytesSource(Bytes bytes) : bytes_(std::move(bytes)) {}
    Result<std::size_t> Read(std::span<char> out) override {
      const std::size_t size = std::min(out.size(), bytes_.size() - at_);
      std::copy_n(bytes_.data() + at_, size, out.data());
      at_ += size;
      return size;
    }

   private:
    Bytes bytes_;
    std::size_t at_ = 0;
  };
};

}  // namespace icewright
