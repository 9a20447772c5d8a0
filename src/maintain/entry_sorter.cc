#include "maintain/entry_sorter.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "io/local_file_io.h"

namespace icewright {
namespace {

constexpr std::string_view kHolder = "manifest entries";
constexpr std::int64_t kBytesOfAPartition = 160;  // hash node, tuple, number
constexpr int kEntriesBetweenChecks = 4096;
constexpr std::size_t kReadAhead = 128 << 10;
constexpr std::size_t kWriteBuffer = 256 << 10;

struct Header {
  std::uint32_t partition = 0;
  std::uint32_t size = 0;
  std::int64_t rows = 0;
  std::int64_t sequence_number = 0;
};

void AppendTo(Bytes& out, const EntryFacts& facts, ByteView record) {
  const Header header{facts.partition, facts.size, facts.rows, Raw(facts.sequence_number)};
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  out.append(record);
}

Status ReadFully(ByteSource& source, std::span<char> out, bool& at_end) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    IW_ASSIGN(const std::size_t got, source.Read(out.subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  at_end = filled == 0 && !out.empty();
  if (filled == out.size() || at_end) return {};
  return Error(Code::kIo, "a temporary file of manifest entries ends early");
}

}  // namespace

// One sorted run on disk.
class EntrySorter::RunReader {
 public:
  static Result<RunReader> Open(FileIO& disk, const Location& location) {
    IW_ASSIGN(auto file, disk.Open(location));
    RunReader reader(std::move(file));
    IW_TRY(reader.Next());
    return reader;
  }

  bool at_end() const { return at_end_; }
  const EntryFacts& facts() const { return facts_; }
  ByteView record() const { return record_; }

  Status Next() {
    Header header;
    IW_TRY(
        ReadFully(*source_, std::span(reinterpret_cast<char*>(&header), sizeof(header)), at_end_));
    if (at_end_) return {};
    facts_ = {header.partition, header.size, header.rows, SequenceNumber(header.sequence_number)};
    record_.resize(header.size);
    bool cut = false;
    IW_TRY(ReadFully(*source_, record_, cut));
    return cut ? Status(Error(Code::kIo, "a temporary file of manifest entries ends early"))
               : Status();
  }

 private:
  explicit RunReader(std::unique_ptr<InputFile> file)
      : file_(std::move(file)), source_(std::make_unique<InputFileSource>(*file_, 0, kReadAhead)) {}

  std::unique_ptr<InputFile> file_;
  std::unique_ptr<InputFileSource> source_;
  bool at_end_ = false;
  EntryFacts facts_;
  Bytes record_;
};

EntrySorter::EntrySorter(RunContext& run, Compare compare, std::int64_t buffer_bytes)
    : run_(run), compare_(std::move(compare)), buffer_bytes_(buffer_bytes) {}
EntrySorter::~EntrySorter() = default;

Result<std::uint32_t> EntrySorter::NumberOf(StructValue partition) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::move(partition), static_cast<std::uint32_t>(partitions_.size()));
  if (is_new) {
    partitions_.push_back(&at->first);
    const std::int64_t bytes =
        kBytesOfAPartition + std::ssize(at->first) * static_cast<std::int64_t>(sizeof(Literal));
    if (partition_memory_.bytes() == 0) {
      IW_ASSIGN(partition_memory_, run_.memory().Reserve(bytes, kHolder));
    } else {
      IW_TRY(partition_memory_.Resize(partition_memory_.bytes() + bytes));
    }
  }
  return at->second;
}

Status EntrySorter::Add(EntryBatch batch) {
  const std::int64_t bytes = static_cast<std::int64_t>(batch.records.size()) +
                             std::ssize(batch.entries) * static_cast<std::int64_t>(sizeof(Entry));
  if (!entries_.empty() && buffered_.bytes() + bytes > buffer_bytes_) IW_TRY(Spill());
  if (entries_.empty()) {
    IW_ASSIGN(buffered_, run_.memory().Reserve(bytes, kHolder));
  } else if (!buffered_.Resize(buffered_.bytes() + bytes)) {
    IW_TRY(Spill());
    IW_ASSIGN(buffered_, run_.memory().Reserve(bytes, kHolder));
  }
  std::vector<std::uint32_t> numbers;
  for (StructValue& partition : batch.partitions) {
    IW_ASSIGN(numbers.emplace_back(), NumberOf(std::move(partition)));
  }
  std::size_t offset = 0;
  for (const EntryFacts& facts : batch.entries) {
    Entry entry{
        .facts = facts, .batch = static_cast<std::uint32_t>(batches_.size()), .offset = offset};
    entry.facts.partition = numbers[facts.partition];
    offset += facts.size;
    entries_.push_back(entry);
  }
  batches_.push_back(std::move(batch.records));
  return {};
}

std::vector<std::uint32_t> EntrySorter::Ranks() const {
  std::vector<std::uint32_t> order(partitions_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const auto compared = compare_(*partitions_[a], *partitions_[b]);
    return compared != 0 ? compared < 0 : a < b;
  });
  std::vector<std::uint32_t> ranks(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

void EntrySorter::SortBuffer() {
  const std::vector<std::uint32_t> ranks = Ranks();
  std::ranges::stable_sort(entries_, {},
                           [&](const Entry& entry) { return ranks[entry.facts.partition]; });
}

Status EntrySorter::Spill() {
  if (!folder_) {
    IW_ASSIGN(folder_, SpillFolder::Make(""));
    disk_ = MakeLocalFileIO();
  }
  SortBuffer();
  const Location location(folder_->NewFile());
  IW_ASSIGN(auto file, disk_->Create(location, CreateMode::kNew));
  Bytes out;
  for (const Entry& entry : entries_) {
    AppendTo(out, entry.facts,
             ByteView(batches_[entry.batch]).substr(entry.offset, entry.facts.size));
    if (out.size() < kWriteBuffer) continue;
    IW_TRY(run_.Check());
    IW_TRY(file->Append(out));
    out.clear();
  }
  IW_TRY(file->Append(out));
  IW_TRY(file->Close());
  runs_.push_back(location);
  entries_.clear();
  batches_.clear();
  buffered_.Release();
  return {};
}

Status EntrySorter::ForEach(const Visit& visit) {
  if (!runs_.empty()) {
    if (!entries_.empty()) IW_TRY(Spill());
    return Merge(Ranks(), visit);
  }
  SortBuffer();
  int seen = 0;
  for (const Entry& entry : entries_) {
    if (++seen % kEntriesBetweenChecks == 0) IW_TRY(run_.Check());
    IW_TRY(
        visit(entry.facts, ByteView(batches_[entry.batch]).substr(entry.offset, entry.facts.size)));
  }
  return {};
}

Status EntrySorter::Merge(const std::vector<std::uint32_t>& ranks, const Visit& visit) {
  std::vector<RunReader> readers;
  IW_ASSIGN(
      const Reservation memory,
      run_.memory().Reserve(std::ssize(runs_) * static_cast<std::int64_t>(kReadAhead), kHolder));
  using Head = std::pair<std::uint32_t, std::size_t>;  // rank, run: earlier runs came first
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (const Location& location : runs_) {
    IW_ASSIGN(RunReader reader, RunReader::Open(*disk_, location));
    if (!reader.at_end()) heads.emplace(ranks[reader.facts().partition], readers.size());
    readers.push_back(std::move(reader));
  }
  int seen = 0;
  while (!heads.empty()) {
    if (++seen % kEntriesBetweenChecks == 0) IW_TRY(run_.Check());
    RunReader& reader = readers[heads.top().second];
    const std::size_t run = heads.top().second;
    heads.pop();
    IW_TRY(visit(reader.facts(), reader.record()));
    IW_TRY(reader.Next());
    if (!reader.at_end()) heads.emplace(ranks[reader.facts().partition], run);
  }
  return {};
}

}  // namespace icewright
