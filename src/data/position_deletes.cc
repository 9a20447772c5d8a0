#include <arrow/array.h>

#include <algorithm>

#include "data/arrow_bridge.h"
#include "data/delete_cache.h"
#include "data/projected_file.h"

namespace icewright {
namespace {

constexpr std::int64_t kMaxBlobBytes = std::int64_t{1} << 31;
constexpr std::string_view kHolder = "deleted positions";

/// Rough size of a bitmap: two bytes a position, as in an array container.
std::int64_t BytesOf(const PositionBitmap& bitmap) { return 1024 + bitmap.cardinality() * 2; }

const NameMapping& PositionDeleteNames() {
  static const NameMapping mapping{
      {{kDeleteFilePathField, {"file_path"}, {}}, {kDeleteFilePosField, {"pos"}, {}}}};
  return mapping;
}

std::vector<Field> PositionDeleteFields() {
  return {{.id = kDeleteFilePathField, .name = "file_path", .type = Type::Of(TypeId::kString)},
          {.id = kDeleteFilePosField, .name = "pos", .type = Type::Of(TypeId::kLong)}};
}

using Split = std::unordered_map<std::string, DeletedPositions>;

/// Collects (file_path, pos) rows. Delete files are sorted by path, so the last path is remembered.
class Splitter {
 public:
  Splitter(Split& out, const std::optional<std::string>& only) : out_(out), only_(only) {}

  Status Add(const arrow::StringArray& paths, const arrow::Int64Array& positions) {
    if (paths.null_count() != 0 || positions.null_count() != 0) {
      return Error(Code::kCorrupt, "a position delete without file_path or pos");
    }
    for (std::int64_t i = 0; i < paths.length(); ++i) {
      const std::string_view path = paths.GetView(i);
      if (!started_ || path != path_) StartPath(path);
      if (bitmap_ == nullptr) continue;
      const std::int64_t position = positions.Value(i);
      if (position < 0) {
        return Error(Code::kCorrupt, "negative position " + std::to_string(position));
      }
      bitmap_->Add(position);
    }
    return {};
  }

 private:
  void StartPath(std::string_view path) {
    started_ = true;
    path_ = path;
    bitmap_ = only_ && *only_ != path ? nullptr : &out_[path_].bitmap;
  }

  Split& out_;
  const std::optional<std::string>& only_;
  bool started_ = false;
  std::string path_;
  PositionBitmap* bitmap_ = nullptr;
};

}  // namespace

Result<DeletedPositions> ReadDeletionVector(RunContext& run, FileIO& io, const DataFile& file) {
  const std::string step = "read deletion vector of " + file.file_path.text();
  if (file.key_metadata) return Error(Code::kUnsupported, "the file is encrypted").Within(step);
  if (!file.content_offset || !file.content_size_in_bytes) {
    return Error(Code::kCorrupt, "the manifest entry has no content_offset or size").Within(step);
  }
  const std::int64_t size = *file.content_size_in_bytes;
  if (*file.content_offset < 0 || size <= 0 || size > kMaxBlobBytes) {
    return Error(Code::kCorrupt, "content of " + std::to_string(size) + " bytes at " +
                                     std::to_string(*file.content_offset))
        .Within(step);
  }
  IW_TRY(run.Check());
  IW_ASSIGN(auto input, io.Open(file.file_path));
  auto file_size = input->Size();
  if (!file_size) return file_size.error().Within(step);
  if (*file.content_offset > *file_size - size) {
    return Error(Code::kCorrupt, "the vector reaches past the end of the file").Within(step);
  }
  // The blob and the bitmap made from it.
  IW_ASSIGN(Reservation memory, run.memory().Reserve(size * 2, kHolder));
  Bytes blob(static_cast<std::size_t>(size), '\0');
  auto got = input->ReadAt(*file.content_offset, blob);
  if (!got) return got.error().Within(step);
  if (*got != blob.size()) return Error(Code::kCorrupt, "the file ends early").Within(step);
  auto bitmap = PositionBitmap::ParseDeletionVector(blob, file.record_count);
  if (!bitmap) return bitmap.error().Within(step);
  DeletedPositions out{std::move(*bitmap), std::move(memory)};
  IW_TRY(out.memory.Resize(size));
  return out;
}

Result<Split> ReadPositionDeletes(RunContext& run, FileIO& io, const DataFile& file,
                                  const std::optional<std::string>& only) {
  ProjectedFileOptions options{.wanted = PositionDeleteFields(),
                               .name_mapping = PositionDeleteNames(),
                               .all_required = true};
  IW_ASSIGN(ProjectedFile reader,
            ProjectedFile::Open(run, io, file, std::move(options), MakePool(run)));
  Split out;
  Splitter splitter(out, only);
  IW_ASSIGN(Reservation building, run.memory().Reserve(0, kHolder));
  for (;;) {
    IW_ASSIGN(std::optional<SourceBatch> batch, reader.Next(run));
    if (!batch) break;
    IW_ASSIGN(auto paths, reader.Column(0, *batch));
    IW_ASSIGN(auto positions, reader.Column(1, *batch));
    IW_TRY(building.Resize(building.bytes() + batch->rows * 2));
    IW_TRY(splitter
               .Add(static_cast<const arrow::StringArray&>(*paths),
                    static_cast<const arrow::Int64Array&>(*positions))
               .Within(reader.step()));
  }
  building.Release();
  for (auto& [path, positions] : out) {
    const auto bytes = BytesOf(positions.bitmap) + static_cast<std::int64_t>(path.size());
    IW_ASSIGN(positions.memory, run.memory().Reserve(bytes, kHolder));
  }
  return out;
}

void ApplyPositions(const PositionBitmap& deleted, std::int64_t first_row, Selection& rows) {
  constexpr std::int64_t kBlock = 1024;
  const std::int64_t in_batch = deleted.CountRange(first_row, first_row + rows.rows());
  if (in_batch == 0) return;
  if (in_batch == rows.rows()) {
    rows.DropAll();
    return;
  }
  for (std::int64_t block = 0; block < rows.rows(); block += kBlock) {
    const std::int64_t end = std::min(block + kBlock, rows.rows());
    if (deleted.CountRange(first_row + block, first_row + end) == 0) continue;
    for (std::int64_t row = block; row < end; ++row) {
      if (deleted.Contains(first_row + row)) rows.Drop(row);
    }
  }
}

}  // namespace icewright
