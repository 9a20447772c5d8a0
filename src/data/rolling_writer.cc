#include "data/rolling_writer.h"

#include <arrow/record_batch.h>

#include <algorithm>

#include "data/format_writers.h"

namespace icewright {
namespace {

constexpr std::int64_t kMinRowsPerStep = 1000;

}  // namespace

std::int64_t RollingWriter::RollLimit() const {
  const auto begun = static_cast<std::int64_t>(files_.size()) + 1;
  const bool last_expected = begun == options_->expected_files;
  return options_->roll_at_bytes + (last_expected ? options_->roll_at_bytes / 10 : 0);
}

std::int64_t RollingWriter::BytesInFile() const {
  const std::int64_t estimate = writer_->estimated_bytes();
  if (options_->input_row_bytes == 0) return estimate;
  const std::int64_t certain = estimate - writer_->uncompressed_bytes();
  const double by_input = static_cast<double>(rows_in_file_) * options_->input_row_bytes;
  return std::clamp(static_cast<std::int64_t>(by_input), certain, estimate);
}

Status RollingWriter::Write(RunContext& run, const arrow::RecordBatch& batch) {
  const std::int64_t raw_row_bytes = BytesPerRow(batch);
  for (std::int64_t done = 0; done < batch.num_rows();) {
    if (writer_ == nullptr) {
      location_ = options_->new_location(partition_);
      IW_ASSIGN(writer_,
                CreateFileWriter(run, options_->plan, *options_->io, location_, options_->pool));
      rows_in_file_ = 0;
    }
    const std::int64_t bytes = BytesInFile();
    const std::int64_t row_bytes = rows_in_file_ < kMinRowsPerStep
                                       ? raw_row_bytes
                                       : std::max<std::int64_t>(bytes / rows_in_file_, 1);
    const std::int64_t step = std::max((RollLimit() - bytes) / row_bytes, kMinRowsPerStep);
    const std::int64_t rows = std::min(step, batch.num_rows() - done);
    if (rows == batch.num_rows()) {
      IW_TRY(writer_->Write(run, batch));
    } else {
      IW_TRY(writer_->Write(run, *batch.Slice(done, rows)));
    }
    done += rows;
    rows_in_file_ += rows;
    if (BytesInFile() >= RollLimit()) IW_TRY(Close(run));
  }
  return {};
}

Status RollingWriter::Close(RunContext& run) {
  if (writer_ == nullptr) return {};
  const std::unique_ptr<FileWriter> writer = std::move(writer_);
  Result<DataFile> file = writer->Close(run);
  if (!file) {
    doubtful_ = location_;
    return file.error();
  }
  file->partition = partition_;
  file->spec_id = options_->spec_id;
  files_.push_back(*std::move(file));
  return {};
}

Status RollingWriter::EndRowGroup(RunContext& run) {
  return writer_ == nullptr ? Status{} : writer_->EndRowGroup(run);
}

Status FanoutWriter::MakeRoom(RunContext& run) {
  const auto open = std::count_if(slots_.begin(), slots_.end(),
                                  [](const Slot& slot) { return slot.writer->is_open(); });
  if (open < max_open_) return {};
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (!slot.writer->is_open()) continue;
    if (oldest == nullptr || slot.last_used < oldest->last_used) oldest = &slot;
  }
  closed_early_ = true;
  return oldest->writer->Close(run);
}

Status FanoutWriter::Write(RunContext& run, const StructValue& partition,
                           const arrow::RecordBatch& batch) {
  if (batch.num_rows() == 0) return {};
  const auto [it, added] = by_partition_.try_emplace(partition, slots_.size());
  if (added) {
    slots_.push_back({.writer = std::make_unique<RollingWriter>(options_, partition)});
  }
  Slot& slot = slots_[it->second];
  if (!slot.writer->is_open()) IW_TRY(MakeRoom(run));
  slot.last_used = ++clock_;
  return slot.writer->Write(run, batch);
}

Result<bool> FanoutWriter::GiveBack(RunContext& run, std::int64_t min_bytes) {
  Slot* largest = nullptr;
  for (Slot& slot : slots_) {
    if (largest == nullptr || slot.writer->buffered_bytes() > largest->writer->buffered_bytes()) {
      largest = &slot;
    }
  }
  if (largest == nullptr || largest->writer->buffered_bytes() < min_bytes) return false;
  IW_TRY(largest->writer->EndRowGroup(run));
  return true;
}

Result<std::vector<DataFile>> FanoutWriter::Close(RunContext& run) {
  for (Slot& slot : slots_) {
    IW_TRY(run.Check());
    IW_TRY(slot.writer->Close(run));
  }
  std::vector<DataFile> files;
  for (Slot& slot : slots_) {
    for (const DataFile& file : slot.writer->files()) files.push_back(file);
  }
  return files;
}

std::vector<Location> FanoutWriter::ClosedFiles() {
  std::vector<Location> out;
  for (Slot& slot : slots_) {
    for (const DataFile& file : slot.writer->files()) out.push_back(file.file_path);
    if (slot.writer->doubtful()) out.push_back(*slot.writer->doubtful());
  }
  return out;
}

}  // namespace icewright
