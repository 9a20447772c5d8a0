#include "data/deletion_vector_writer.h"

#include <limits>
#include <optional>
#include <utility>

#include "codec/puffin.h"
#include "data/location_provider.h"

namespace icewright {
namespace {

constexpr char kBlobType[] = "deletion-vector-v1";
constexpr char kCreatedBy[] = "icewright";
/// Length, magic and CRC stand around the vector.
constexpr std::size_t kMaxBlobBytes = std::numeric_limits<std::int32_t>::max();

PuffinBlob BlobOf(const DataFile& data_file, std::int64_t cardinality) {
  return {.type = kBlobType,
          .fields = {kRowPositionField},
          .properties = {{"referenced-data-file", data_file.file_path.text()},
                         {"cardinality", std::to_string(cardinality)}}};
}

}  // namespace

struct DeletionVectorWriter::Rep {
  Rep(const TableMetadata& metadata, std::shared_ptr<FileIO> file_io, std::string operation_id)
      : io(std::move(file_io)),
        locations(metadata),
        names(std::move(operation_id), FileFormat::kPuffin) {}

  std::shared_ptr<FileIO> io;
  LocationProvider locations;
  FileNames names;
  std::unique_ptr<OutputFile> file = {};
  std::optional<PuffinWriter> writer = {};  // after file: borrows it
  std::vector<DataFile> added = {};
};

DeletionVectorWriter::DeletionVectorWriter(const TableMetadata& metadata,
                                           std::shared_ptr<FileIO> io, std::string operation_id)
    : rep_(std::make_unique<Rep>(metadata, std::move(io), std::move(operation_id))) {}
DeletionVectorWriter::DeletionVectorWriter(DeletionVectorWriter&&) noexcept = default;
DeletionVectorWriter::~DeletionVectorWriter() = default;

Status DeletionVectorWriter::Add(const DataFile& data_file, const PositionBitmap& positions) {
  if (rep_->file == nullptr) {
    // One file for all partitions: its place is the table's data folder.
    const Location location = rep_->locations.NewDataLocation("", rep_->names.Next(0, 0));
    IW_ASSIGN(rep_->file, rep_->io->Create(location, CreateMode::kNew));
    rep_->writer.emplace(*rep_->file, kCreatedBy);
  }
  const Bytes blob = positions.SerializeDeletionVector();
  if (blob.size() > kMaxBlobBytes) {
    return Error(Code::kUnsupported,
                 "the deletion vector of " + data_file.file_path.text() + " is 2 GiB or larger");
  }
  const std::int64_t cardinality = positions.cardinality();
  IW_ASSIGN(const PuffinBlob written, rep_->writer->Add(BlobOf(data_file, cardinality), blob));
  DataFile entry;
  entry.content = FileContent::kPositionDeletes;
  entry.file_path = rep_->file->location();
  entry.file_format = FileFormat::kPuffin;
  entry.partition = data_file.partition;
  entry.record_count = cardinality;
  entry.referenced_data_file = data_file.file_path;
  entry.content_offset = written.offset;
  entry.content_size_in_bytes = written.length;
  entry.spec_id = data_file.spec_id;
  rep_->added.push_back(std::move(entry));
  return {};
}

Result<std::vector<DataFile>> DeletionVectorWriter::Finish() {
  if (rep_->file == nullptr) return std::vector<DataFile>();
  IW_TRY(rep_->writer->Finish());
  const std::int64_t size = rep_->file->bytes_written();
  if (const Status closed = rep_->file->Close(); !closed) {
    // Only the answer may be lost. Nothing names the file yet.
    const Location location = rep_->file->location();
    rep_->writer.reset();
    rep_->file.reset();
    if (!rep_->io->Delete(location)) {
      return closed.error().Within("left behind " + location.text());
    }
    return closed.error();
  }
  for (DataFile& entry : rep_->added) entry.file_size_in_bytes = size;
  return std::move(rep_->added);
}

}  // namespace icewright
