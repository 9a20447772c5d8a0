#include "data/external_sort.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/table_builder.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "data/arrow_bridge.h"
#include "data/spill_file.h"

namespace icewright {
namespace {

constexpr std::size_t kMaxFanIn = 16;
constexpr std::int64_t kMinSpillRows = 64;

// A row of a run in the order of the keys. The first bytes of the key settle most comparisons.
struct SortEntry {
  std::uint64_t prefix = 0;
  std::int64_t row = 0;
};

std::uint64_t PrefixOf(std::string_view key) {
  char raw[8] = {};
  std::memcpy(raw, key.data(), std::min<std::size_t>(key.size(), sizeof(raw)));
  std::uint64_t value = 0;
  std::memcpy(&value, raw, sizeof(raw));
  return __builtin_bswap64(value);
}

std::vector<std::int64_t> SortedRows(const SortKeys& keys) {
  std::vector<SortEntry> entries(keys.offsets.size() - 1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {PrefixOf(keys.key(i)), static_cast<std::int64_t>(i)};
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const SortEntry& a, const SortEntry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return keys.key(static_cast<std::size_t>(a.row)) < keys.key(static_cast<std::size_t>(b.row));
  });
  std::vector<std::int64_t> rows(entries.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = entries[i].row;
  return rows;
}

}  // namespace

class RunMerge;

struct ExternalSort::Rep {
  SortKey key;
  SortOptions options;
  std::shared_ptr<arrow::MemoryPool> pool;

  arrow::RecordBatchVector buffered;
  std::int64_t buffered_bytes = 0;

  std::optional<SpillFolder> folder;
  std::vector<std::string> runs;  // in the order of their rows' arrival
  int spilled = 0;
  std::int64_t spill_rows = 0;  // of a batch on disk: a merge holds one of each run

  bool finished = false;
  std::shared_ptr<arrow::RecordBatch> sorted;  // all rows, if nothing was spilled
  std::vector<std::int64_t> order;
  std::int64_t emitted = 0;
  std::unique_ptr<RunMerge> merge;

  Result<std::shared_ptr<arrow::RecordBatch>> TakeSlice(std::int64_t first,
                                                        std::int64_t rows) const;
  Result<SortKeys> SortBuffered();
  Status SpillBuffered(RunContext& run);
  Status MergeRuns(RunContext& run, std::size_t first, std::size_t count);
  Status Finish(RunContext& run);
};

// Merges sorted runs; equal rows come from the earlier run first. Single-threaded.
class RunMerge {
 public:
  RunMerge(std::shared_ptr<arrow::MemoryPool> pool, std::int64_t output_rows)
      : pool_(std::move(pool)), output_rows_(output_rows) {}

  Status AddRun(const std::string& path) {
    IW_ASSIGN(auto reader, SpillReader::Open(path, pool_.get()));
    Input& input = inputs_.emplace_back();
    input.reader = std::move(reader);
    IW_TRY(Advance(input));
    return {};
  }

  // Sorted rows with their keys; unset at the end.
  Result<std::optional<SpillBatch>> Next(RunContext& run) {
    IW_TRY(run.Check());
    if (!heap_ready_) MakeHeap();
    if (heap_.empty()) return std::optional<SpillBatch>{};
    IW_ASSIGN(auto builder,
              FromArrow(arrow::RecordBatchBuilder::Make(inputs_[heap_.front()].batch.rows->schema(),
                                                        pool_.get(), output_rows_),
                        "merge sorted runs"));
    arrow::BinaryBuilder keys(pool_.get());
    std::int64_t rows = 0;
    while (!heap_.empty() && rows < output_rows_) {
      std::pop_heap(heap_.begin(), heap_.end(), After{this});
      Input& input = inputs_[heap_.back()];
      IW_ASSIGN(const std::int64_t taken,
                AppendWhileFirst(input, output_rows_ - rows, *builder, keys));
      rows += taken;
      if (input.batch.rows == nullptr) {
        heap_.pop_back();
      } else {
        std::push_heap(heap_.begin(), heap_.end(), After{this});
      }
    }
    SpillBatch out;
    IW_ASSIGN(out.rows, FromArrow(builder->Flush(), "merge sorted runs"));
    std::shared_ptr<arrow::Array> array;
    IW_TRY(CheckArrow(keys.Finish(&array), "merge sorted runs"));
    out.keys = std::static_pointer_cast<arrow::BinaryArray>(array);
    return std::optional<SpillBatch>(std::move(out));
  }

 private:
  struct Input {
    std::unique_ptr<SpillReader> reader;
    SpillBatch batch;  // no rows: at the end
    std::int64_t position = 0;
    std::string_view key() const { return batch.keys->GetView(position); }
  };

  bool IsBefore(std::size_t a, std::size_t b) const {
    const int order = inputs_[a].key().compare(inputs_[b].key());
    return order != 0 ? order < 0 : a < b;
  }

  struct After {
    const RunMerge* merge;
    bool operator()(std::size_t a, std::size_t b) const { return merge->IsBefore(b, a); }
  };

  void MakeHeap() {
    heap_ready_ = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].batch.rows != nullptr) heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), After{this});
  }

  static Status Advance(Input& input) {
    input.position = 0;
    do {
      IW_ASSIGN(input.batch, input.reader->Next());
    } while (input.batch.rows != nullptr && input.batch.rows->num_rows() == 0);
    return {};
  }

  // Appends rows of `input`, which is the smallest and at the back of the heap, for as long as it
  // stays the smallest.
  Result<std::int64_t> AppendWhileFirst(Input& input, std::int64_t limit,
                                        arrow::RecordBatchBuilder& builder,
                                        arrow::BinaryBuilder& keys) {
    const std::size_t self = heap_.back();
    const std::int64_t start = input.position;
    const std::int64_t end = std::min(start + limit, input.batch.rows->num_rows());
    do {
      IW_TRY(CheckArrow(keys.Append(input.key())));
      ++input.position;
    } while (input.position < end && (heap_.size() == 1 || IsBefore(self, heap_.front())));
    const std::int64_t taken = input.position - start;
    for (int c = 0; c < builder.num_fields(); ++c) {
      IW_TRY(CheckArrow(builder.GetField(c)->AppendArraySlice(
          arrow::ArraySpan(*input.batch.rows->column_data(c)), start, taken)));
    }
    if (input.position == input.batch.rows->num_rows()) IW_TRY(Advance(input));
    return taken;
  }

  std::shared_ptr<arrow::MemoryPool> pool_;
  std::int64_t output_rows_;
  std::vector<Input> inputs_;
  std::vector<std::size_t> heap_;
  bool heap_ready_ = false;
};

// Rows [first, first + rows) of the sorted order.
Result<std::shared_ptr<arrow::RecordBatch>> ExternalSort::Rep::TakeSlice(std::int64_t first,
                                                                         std::int64_t rows) const {
  const arrow::Int64Array indices(
      rows, arrow::Buffer::Wrap(order.data() + first, static_cast<std::size_t>(rows)));
  arrow::compute::ExecContext context(pool.get());
  IW_ASSIGN(arrow::Datum taken,
            FromArrow(arrow::compute::Take(sorted, indices.data(),
                                           arrow::compute::TakeOptions::NoBoundsCheck(), &context),
                      "sort rows"));
  return taken.record_batch();
}

// Fills `sorted` and `order` from the buffered batches.
Result<SortKeys> ExternalSort::Rep::SortBuffered() {
  if (buffered.empty()) return SortKeys{{}, {0}};
  IW_ASSIGN(sorted, FromArrow(arrow::ConcatenateRecordBatches(buffered, pool.get()), "sort rows"));
  buffered.clear();
  buffered_bytes = 0;
  IW_ASSIGN(SortKeys keys, key.Encode(*sorted));
  order = SortedRows(keys);
  return keys;
}

Status ExternalSort::Rep::SpillBuffered(RunContext& run) {
  const std::int64_t bytes = buffered_bytes;
  IW_ASSIGN(const SortKeys keys, SortBuffered());
  if (sorted == nullptr) return {};
  if (!folder) {
    IW_ASSIGN(folder, SpillFolder::Make(options.temp_folder));
  }
  IW_ASSIGN(auto writer, SpillWriter::Open(folder->NewFile(), sorted->schema(), pool.get()));
  const auto total = static_cast<std::int64_t>(order.size());
  const std::int64_t row_bytes = std::max<std::int64_t>(bytes / total, 1);
  const std::int64_t fitting =
      options.memory_bytes / static_cast<std::int64_t>(2 * kMaxFanIn) / row_bytes;
  const std::int64_t step =
      std::clamp(fitting, std::min(kMinSpillRows, options.output_rows), options.output_rows);
  spill_rows = spilled == 0 ? step : std::min(step, spill_rows);
  for (std::int64_t first = 0; first < total; first += step) {
    IW_TRY(run.Check());
    const std::int64_t rows = std::min(step, total - first);
    SpillBatch batch;
    IW_ASSIGN(batch.rows, TakeSlice(first, rows));
    arrow::BinaryBuilder builder(pool.get());
    for (std::int64_t i = first; i < first + rows; ++i) {
      IW_TRY(CheckArrow(
          builder.Append(keys.key(static_cast<std::size_t>(order[static_cast<std::size_t>(i)])))));
    }
    std::shared_ptr<arrow::Array> array;
    IW_TRY(CheckArrow(builder.Finish(&array)));
    batch.keys = std::static_pointer_cast<arrow::BinaryArray>(array);
    IW_TRY(writer->Write(batch));
  }
  IW_TRY(writer->Close());
  runs.push_back(writer->path());
  ++spilled;
  sorted = nullptr;
  order.clear();
  return {};
}

// Replaces `count` neighbouring runs by one.
Status ExternalSort::Rep::MergeRuns(RunContext& run, std::size_t first, std::size_t count) {
  RunMerge some(pool, spill_rows);
  for (std::size_t i = first; i < first + count; ++i) IW_TRY(some.AddRun(runs[i]));
  std::unique_ptr<SpillWriter> writer;
  for (;;) {
    IW_ASSIGN(auto batch, some.Next(run));
    if (!batch) break;
    if (writer == nullptr) {
      IW_ASSIGN(writer, SpillWriter::Open(folder->NewFile(), batch->rows->schema(), pool.get()));
    }
    IW_TRY(writer->Write(*batch));
  }
  IW_TRY(writer->Close());
  for (std::size_t i = first; i < first + count; ++i) folder->Remove(runs[i]);
  runs[first] = writer->path();
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(first) + 1,
             runs.begin() + static_cast<std::ptrdiff_t>(first + count));
  return {};
}

Status ExternalSort::Rep::Finish(RunContext& run) {
  finished = true;
  if (runs.empty()) {
    IW_ASSIGN(const SortKeys keys, SortBuffered());
    return {};
  }
  if (!buffered.empty()) IW_TRY(SpillBuffered(run));
  while (runs.size() > kMaxFanIn) {
    for (std::size_t first = 0; first + 1 < runs.size(); ++first) {
      IW_TRY(MergeRuns(run, first, std::min(kMaxFanIn, runs.size() - first)));
    }
  }
  merge = std::make_unique<RunMerge>(pool, options.output_rows);
  for (const std::string& path : runs) IW_TRY(merge->AddRun(path));
  return {};
}

ExternalSort::ExternalSort(SortKey key, SortOptions options,
                           std::shared_ptr<arrow::MemoryPool> pool)
    : rep_(std::make_unique<Rep>()) {
  rep_->key = std::move(key);
  rep_->options = std::move(options);
  rep_->pool = std::move(pool);
}

ExternalSort::~ExternalSort() = default;

Status ExternalSort::Add(RunContext& run, std::shared_ptr<arrow::RecordBatch> batch) {
  if (batch->num_rows() == 0) return {};
  const auto bytes = arrow::util::ReferencedBufferSize(*batch);
  rep_->buffered_bytes += bytes.ok() ? *bytes : 0;
  rep_->buffered.push_back(std::move(batch));
  // Sorting holds the rows up to three times: as they came, in one piece, and taken in order.
  if (rep_->buffered_bytes < rep_->options.memory_bytes / 3) return {};
  return rep_->SpillBuffered(run);
}

Result<std::shared_ptr<arrow::RecordBatch>> ExternalSort::Next(RunContext& run) {
  Rep& rep = *rep_;
  if (!rep.finished) IW_TRY(rep.Finish(run));
  IW_TRY(run.Check());
  if (rep.merge != nullptr) {
    IW_ASSIGN(auto batch, rep.merge->Next(run));
    return batch ? batch->rows : nullptr;
  }
  const std::int64_t left = static_cast<std::int64_t>(rep.order.size()) - rep.emitted;
  if (left <= 0) return std::shared_ptr<arrow::RecordBatch>();
  const std::int64_t rows = std::min(left, rep.options.output_rows);
  IW_ASSIGN(auto batch, rep.TakeSlice(rep.emitted, rows));
  rep.emitted += rows;
  return batch;
}

int ExternalSort::spilled_runs() const { return rep_->spilled; }

}  // namespace icewright
