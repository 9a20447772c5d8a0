#include "maintain/record_spool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <queue>
#include <span>
#include <system_error>
#include <utility>

namespace icewright {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(PathHash) + sizeof(std::uint32_t);
constexpr std::size_t kFileBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxOpenRuns = 64;
constexpr int kRecordsPerCheck = 1 << 14;

void AppendLength(std::size_t length, Bytes& out) {
  const auto fixed = static_cast<std::uint32_t>(length);
  out.append(reinterpret_cast<const char*>(&fixed), sizeof(fixed));
}

}  // namespace

Result<std::string> LazySpillFolder::NewFile() {
  if (!folder_) {
    IW_ASSIGN(folder_, SpillFolder::Make(""));
  }
  return folder_->NewFile();
}

// ---- RecordSpool

RecordSpool::RecordSpool(RecordSpool&& other) noexcept
    : folder_(other.folder_),
      memory_bytes_(other.memory_bytes_),
      path_(std::move(other.path_)),
      file_(std::exchange(other.file_, nullptr)),
      buffer_(std::move(other.buffer_)),
      position_(other.position_),
      size_(other.size_) {}

RecordSpool::~RecordSpool() {
  if (file_ != nullptr) std::fclose(file_);
  if (!path_.empty()) std::remove(path_.c_str());
}

Error RecordSpool::FileError(const char* step) const {
  const int error = errno;
  return {error == ENOSPC ? Code::kExhausted : Code::kIo,
          std::string(step) + " temporary file " + path_ + ": " +
              std::error_code(error, std::generic_category()).message()};
}

Status RecordSpool::Append(PathHash hash, std::string_view payload) {
  buffer_.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  AppendLength(payload.size(), buffer_);
  buffer_ += payload;
  ++size_;
  if (buffer_.size() < (path_.empty() ? memory_bytes_ : kFileBufferBytes)) return {};
  return Flush();
}

Status RecordSpool::Flush() {
  if (path_.empty()) {
    IW_ASSIGN(path_, folder_.NewFile());
    file_ = std::fopen(path_.c_str(), "w+be");
    if (file_ == nullptr) return FileError("create");
    std::setvbuf(file_, nullptr, _IONBF, 0);
  }
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    return FileError("write");
  }
  buffer_.clear();
  return {};
}

Status RecordSpool::Rewind() {
  position_ = 0;
  if (path_.empty()) return {};
  IW_TRY(Flush());
  buffer_.shrink_to_fit();
  if (std::fseek(file_, 0, SEEK_SET) != 0) return FileError("read");
  return {};
}

// Makes `bytes` of them available at position_, or leaves fewer at the end of the file.
Status RecordSpool::Fill(std::size_t bytes) {
  if (buffer_.size() - position_ >= bytes || file_ == nullptr) return {};
  buffer_.erase(0, position_);
  position_ = 0;
  const std::size_t old = buffer_.size();
  const std::size_t wanted = std::max(bytes, kFileBufferBytes) - old;
  buffer_.resize(old + wanted);
  const std::size_t got = std::fread(buffer_.data() + old, 1, wanted, file_);
  buffer_.resize(old + got);
  if (got < wanted && std::ferror(file_) != 0) return FileError("read");
  return {};
}

Result<bool> RecordSpool::Next(HashedRecord& record) {
  IW_TRY(Fill(kHeaderBytes));
  if (buffer_.size() == position_) return false;
  const auto cut_off = [&] {
    return Error(Code::kIo, "temporary file " + path_ + " was changed by others");
  };
  if (buffer_.size() - position_ < kHeaderBytes) return cut_off();
  std::memcpy(&record.hash, buffer_.data() + position_, sizeof(PathHash));
  const std::size_t length =
      LoadLittle<std::uint32_t>(buffer_.data() + position_ + sizeof(PathHash));
  IW_TRY(Fill(kHeaderBytes + length));
  if (buffer_.size() - position_ < kHeaderBytes + length) return cut_off();
  record.payload.assign(buffer_, position_ + kHeaderBytes, length);
  position_ += kHeaderBytes + length;
  return true;
}

// ---- HashSorter

/// The heads of all runs, which are rewound; the smallest is on top.
struct HashSorter::Merge {
  struct Head {
    HashedRecord record;
    RecordSpool* run;
  };
  struct Later {
    bool operator()(const Head* a, const Head* b) const { return b->record.hash < a->record.hash; }
  };

  Status Start(std::span<const std::unique_ptr<RecordSpool>> runs) {
    heads.reserve(runs.size());
    for (const auto& run : runs) {
      heads.push_back({.record = {}, .run = run.get()});
      IW_ASSIGN(const bool more, run->Next(heads.back().record));
      if (more) queue.push(&heads.back());
    }
    return {};
  }

  Result<bool> Next(HashedRecord& record) {
    if (queue.empty()) return false;
    Head* head = queue.top();
    queue.pop();
    std::swap(record, head->record);
    IW_ASSIGN(const bool more, head->run->Next(head->record));
    if (more) queue.push(head);
    return true;
  }

  std::vector<Head> heads;
  std::priority_queue<Head*, std::vector<Head*>, Later> queue;
};

HashSorter::HashSorter(LazySpillFolder& folder, std::size_t memory_bytes)
    : folder_(folder), memory_bytes_(memory_bytes) {}

HashSorter::~HashSorter() = default;

Status HashSorter::Add(PathHash hash, std::string_view payload) {
  const std::size_t need = sizeof(Entry) + sizeof(std::uint32_t) + payload.size();
  const std::size_t used = entries_.size() * sizeof(Entry) + bytes_.size();
  if (used + need > memory_bytes_ && !entries_.empty()) IW_TRY(SpillRun());
  if (!reserved_ && used > memory_bytes_ / 4) {
    // The rest at once: growing by doubling would take three times as much for a moment.
    entries_.reserve(entries_.size() * 5);
    bytes_.reserve(bytes_.size() * 5);
    reserved_ = true;
  }
  entries_.push_back({hash, bytes_.size()});
  AppendLength(payload.size(), bytes_);
  bytes_ += payload;
  ++size_;
  return {};
}

void HashSorter::SortEntries() {
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) { return a.hash < b.hash; });
}

std::string_view HashSorter::PayloadAt(const Entry& entry) const {
  const char* at = bytes_.data() + entry.offset;
  return {at + sizeof(std::uint32_t), LoadLittle<std::uint32_t>(at)};
}

Status HashSorter::SpillRun() {
  SortEntries();
  auto spool = std::make_unique<RecordSpool>(folder_, 0);
  for (const Entry& entry : entries_) IW_TRY(spool->Append(entry.hash, PayloadAt(entry)));
  IW_TRY(spool->Rewind());
  runs_.push_back(std::move(spool));
  entries_.clear();
  bytes_.clear();
  return {};
}

// Many runs would need many open files and buffers.
Status HashSorter::MergeFirstRuns(const RunContext& run, std::size_t count) {
  IW_TRY(run.Check());
  auto merged = std::make_unique<RecordSpool>(folder_, 0);
  Merge merge;
  IW_TRY(merge.Start(std::span(runs_).first(count)));
  HashedRecord record;
  for (int n = 1;; ++n) {
    if (n % kRecordsPerCheck == 0) IW_TRY(run.Check());
    IW_ASSIGN(const bool more, merge.Next(record));
    if (!more) break;
    IW_TRY(merged->Append(record.hash, record.payload));
  }
  IW_TRY(merged->Rewind());
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(count));
  runs_.push_back(std::move(merged));
  return {};
}

Status HashSorter::Sort(const RunContext& run) {
  position_ = 0;
  if (runs_.empty()) {
    SortEntries();
    return {};
  }
  if (!entries_.empty()) IW_TRY(SpillRun());
  entries_ = {};
  bytes_ = {};
  while (runs_.size() > kMaxOpenRuns) IW_TRY(MergeFirstRuns(run, kMaxOpenRuns));
  merge_ = std::make_unique<Merge>();
  return merge_->Start(runs_);
}

Result<bool> HashSorter::Next(HashedRecord& record) {
  if (merge_) return merge_->Next(record);
  if (position_ == entries_.size()) return false;
  const Entry& entry = entries_[position_++];
  record.hash = entry.hash;
  record.payload = PayloadAt(entry);
  return true;
}

}  // namespace icewright
