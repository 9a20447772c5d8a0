#include "maintain/stored_key_places.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/executor.h"
#include "config/fields.h"

namespace icewright {
namespace {

/// Changes with what is stored below.
constexpr char kVersion[] = "icewright-keys-2";
/// Behind all keys, which begin with 0 or 1.
constexpr char kHeaderKey[] = "\2!";
constexpr char kFileMark[] = "\2f";  // before the path
/// Number of the data file and position, behind each key.
constexpr std::size_t kPlaceBytes = 2 * sizeof(std::uint64_t);
constexpr std::size_t kBatchBytes = 1 << 20;
constexpr std::int64_t kRowsPerPart = 4'000'000;
constexpr Milliseconds kStallPause{20};
constexpr Milliseconds kSettlePause{5};
constexpr int kIdleLooks = 3;
constexpr int kSortedRuns = 8;  // beyond which RocksDB merges some
constexpr char kMergeTrigger[] = "level0_file_num_compaction_trigger";
/// Rows learned at once, as a part of all, from which everything is merged.
constexpr std::int64_t kMostGrowth = 4;
/// Rows of files that are gone, for each live one and beside a few, beyond which to begin anew.
constexpr std::int64_t kMostDeadRows = 1;
constexpr std::int64_t kFewRows = 100'000;

/// Big-endian: entries of a key are in the order of files and positions.
template <typename T>
void AppendBig(Bytes& out, T value) {
  for (int shift = 8 * (static_cast<int>(sizeof(T)) - 1); shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift & 0xff);
  }
}

template <typename T>
T LoadBig(const char* at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(at[i]));
  }
  return value;
}

/// An entry without its place: what Bloom filters are about.
class KeyOfEntry final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "icewright.KeyOfEntry"; }
  rocksdb::Slice Transform(const rocksdb::Slice& entry) const override {
    return {entry.data(), entry.size() - kPlaceBytes};
  }
  bool InDomain(const rocksdb::Slice& entry) const override { return entry.size() >= kPlaceBytes; }
};

/// RocksDB's own log would be the first to meet a full disk, and it then ends the process.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

/// Of the database's lock file; paths, which may have any words, come behind these.
bool IsLock(std::string_view text) {
  return text.starts_with("lock hold by current process") || text.starts_with("While lock file");
}

Status ToStatus(const rocksdb::Status& status, const std::string& folder) {
  if (status.ok()) return {};
  Code code = Code::kIo;
  if (status.IsCorruption()) code = Code::kCorrupt;
  if (status.IsNoSpace() || status.IsMemoryLimit()) code = Code::kExhausted;
  const std::string_view text = status.getState() == nullptr ? "" : status.getState();
  if (IsLock(text)) code = Code::kLockHeld;
  if (text.ends_with("Permission denied")) code = Code::kDenied;
  return Error(code, fmt::format("index {}: {}", folder, status.ToString()));
}

/// What is known of a data file.
struct StoredFile {
  std::uint64_t number = 0;
  std::int64_t bytes = 0;  ///< Of the data file, as the manifest says.
  std::int64_t rows = 0;

  Bytes Serialize() const {
    Bytes out;
    AppendBig(out, number);
    AppendBig(out, static_cast<std::uint64_t>(bytes));
    AppendBig(out, static_cast<std::uint64_t>(rows));
    return out;
  }
  static bool Parse(ByteView text, StoredFile& out) {
    if (text.size() != 3 * sizeof(std::uint64_t)) return false;
    out.number = LoadBig<std::uint64_t>(text.data());
    out.bytes = static_cast<std::int64_t>(LoadBig<std::uint64_t>(text.data() + 8));
    out.rows = static_cast<std::int64_t>(LoadBig<std::uint64_t>(text.data() + 16));
    return true;
  }
};

class Store final : public KeyPlaces {
 public:
  explicit Store(std::string folder) : folder_(std::move(folder)) {}
  ~Store() override { Close(); }

  /// False: what is there is not an index that can be used.
  Result<bool> Open(RunContext& run, const std::string& header) {
    IW_TRY(OpenDatabase(run));
    if (db_ == nullptr) return false;
    std::string found;
    const rocksdb::Status status = db_->Get({}, kHeaderKey, &found);
    if (status.IsNotFound()) {
      // New, or not even that was finished.
      IW_TRY(Said(db_->Put(Unlogged(), kHeaderKey, header)));
      return true;
    }
    if (!status.ok() || found != header) return false;
    return LoadFiles();
  }

  /// Removes all of it.
  Status Destroy() {
    Close();
    rocksdb::Options options;
    options.info_log = std::make_shared<NoLog>();
    return ToStatus(rocksdb::DestroyDB(folder_, options), folder_);
  }

  std::int64_t rows() const { return rows_; }
  bool is_broken() const override { return broken_; }

  Result<std::vector<std::uint64_t>> Learn(RunContext& run, const RowKeys& keys,
                                           const std::vector<const DataFile*>& files) override {
    std::vector<std::uint64_t> numbers;
    std::vector<Fresh> fresh;
    for (const DataFile* file : files) {
      const auto known = files_.find(file->file_path.text());
      if (known != files_.end() && known->second.bytes == file->file_size_in_bytes) {
        numbers.push_back(known->second.number);
        continue;
      }
      // At random: rows that an interrupted run left behind have a number that nobody knows.
      numbers.push_back(run.random().Next());
      fresh.emplace_back(file, StoredFile{.number = numbers.back(),
                                          .bytes = file->file_size_in_bytes,
                                          .rows = file->record_count});
    }
    // Part by part: an interrupted run keeps what it has learned.
    const std::int64_t before = rows_;
    std::size_t first = 0;
    while (first < fresh.size()) {
      std::size_t last = first;
      for (std::int64_t rows = 0; last < fresh.size() && rows < kRowsPerPart; ++last) {
        rows += fresh[last].second.rows;
      }
      IW_TRY(LearnPart(run, keys, std::span(fresh).subspan(first, last - first)));
      first = last;
    }
    if (!fresh.empty()) IW_TRY(Settle(run, kIdleLooks));
    if (rows_ - before > kFewRows && rows_ - before > rows_ / kMostGrowth) IW_TRY(MergeAll(run));
    return numbers;
  }

  Status Find(const std::vector<Bytes>& keys, const Visit& visit) const override {
    rocksdb::ReadOptions options;
    options.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> entry(db_->NewIterator(options));
    Bytes first;
    for (const Bytes& key : keys) {
      first = key;
      first.append(kPlaceBytes, '\0');
      for (entry->Seek(first); entry->Valid(); entry->Next()) {
        const rocksdb::Slice text = entry->key();
        if (text.size() != first.size() || !text.starts_with(key)) break;
        const char* const place = text.data() + key.size();
        const auto position = LoadBig<std::uint64_t>(place + sizeof(std::uint64_t));
        IW_TRY(visit({.file = LoadBig<std::uint64_t>(place),
                      .position = static_cast<std::int64_t>(position)}));
      }
      IW_TRY(Said(entry->status()));
    }
    return {};
  }

 private:
  /// Nothing is in a log: what is written in order is on disk in order, by flushes, so that no
  /// damage leaves a file known whose rows are gone.
  static rocksdb::WriteOptions Unlogged() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return options;
  }

  Status Said(const rocksdb::Status& status) const {
    if (status.IsCorruption()) broken_ = true;
    return ToStatus(status, folder_);
  }
  /// Leaves db_ null for damage. Memory: an eighth of the budget at most.
  Status OpenDatabase(RunContext& run) {
    const std::int64_t size =
        std::clamp<std::int64_t>(run.memory().available() / 8, 1 << 20, std::int64_t{96} << 20);
    IW_ASSIGN(memory_, run.memory().Reserve(size, "caches of the key index"));
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    options.info_log = std::make_shared<NoLog>();
    options.max_background_jobs = std::max(run.threads(), 2);
    options.max_open_files = 256;
    options.allow_concurrent_memtable_write = false;  // as a vector cannot
    rocksdb::ColumnFamilyOptions rows;
    rows.compression = rocksdb::kLZ4Compression;
    // Learn writes much and flushes before anybody reads; each run adds a little to what is large.
    rows.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
    rows.compaction_style = rocksdb::kCompactionStyleUniversal;
    rows.level0_file_num_compaction_trigger = kSortedRuns;
    rows.prefix_extractor = std::make_shared<KeyOfEntry>();
    rows.write_buffer_size = static_cast<std::size_t>(size / 4);
    rocksdb::BlockBasedTableOptions blocks;
    blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    blocks.whole_key_filtering = false;
    // In pieces: filters and indices of tens of millions of rows are larger than the cache.
    blocks.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    blocks.partition_filters = true;
    blocks.cache_index_and_filter_blocks = true;
    blocks.block_cache = rocksdb::NewLRUCache(static_cast<std::size_t>(size / 2));
    rows.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
    const rocksdb::Status status =
        rocksdb::DB::Open(rocksdb::Options(options, rows), folder_, &db_);
    if (status.ok()) return {};
    db_ = nullptr;
    const bool damaged = status.IsCorruption() || status.IsInvalidArgument() ||
                         status.IsNotFound() || status.IsNotSupported() || status.IsPathNotFound();
    return damaged ? Status() : ToStatus(status, folder_);
  }

  Result<bool> LoadFiles() {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    constexpr std::size_t kMark = sizeof(kFileMark) - 1;
    const std::unique_ptr<rocksdb::Iterator> entry(db_->NewIterator(options));
    for (entry->Seek(kFileMark); entry->Valid(); entry->Next()) {
      StoredFile file;
      if (!StoredFile::Parse({entry->value().data(), entry->value().size()}, file)) return false;
      rows_ += file.rows;
      files_.emplace(std::string(entry->key().data() + kMark, entry->key().size() - kMark), file);
    }
    return entry->status().ok();
  }

  using Fresh = std::pair<const DataFile*, StoredFile>;

  Status LearnPart(RunContext& run, const RowKeys& keys, std::span<const Fresh> part) {
    IW_TRY(ParallelFor(run, part.size(), run.threads(), [&](std::size_t i) {
      return AddRows(run, keys, *part[i].first, part[i].second.number);
    }));
    // Behind the rows.
    rocksdb::WriteBatch done;
    for (const auto& [file, stored] : part) {
      done.Put(kFileMark + file->file_path.text(), stored.Serialize());
    }
    IW_TRY(WriteRows(run, done));
    IW_TRY(Said(db_->Flush({})));
    for (const auto& [file, stored] : part) {
      files_[file->file_path.text()] = stored;
      rows_ += stored.rows;
      rows_read_ += stored.rows;
    }
    files_read_ += std::ssize(part);
    return {};
  }

  std::uint64_t Number(const std::string& property) const {
    std::uint64_t value = 0;
    return db_->GetIntProperty(property, &value) ? value : 0;
  }
  /// Merges that failed, for want of space above all: RocksDB tries again for ever.
  std::uint64_t Failures() const { return Number(rocksdb::DB::Properties::kBackgroundErrors); }

  /// Waits until RocksDB has merged what it wants to merge: a merge that Close breaks off is begun
  /// anew by the next run, and by the one after it. "Pending" may stay for ever where there is
  /// nothing to gain; then no merge begins. Nothing depends on merges: one that fails is left.
  Status Settle(RunContext& run, int idle_looks) {
    using Of = rocksdb::DB::Properties;
    const std::uint64_t failures = Failures();
    for (int idle = 0; idle < idle_looks && Failures() == failures;) {
      // Of a merge that runs nothing is pending.
      const bool is_running = Number(Of::kNumRunningCompactions) > 0;
      if (!is_running && Number(Of::kCompactionPending) == 0) return {};
      idle = is_running ? 0 : idle + 1;
      IW_TRY(run.SleepFor(kSettlePause));
    }
    return {};
  }

  /// One sorted run instead of many: a look-up asks each, and later merges of small ones leave a
  /// single large one alone.
  Status MergeAll(RunContext& run) {
    IW_TRY(Said(db_->SetOptions({{kMergeTrigger, "1"}})));
    IW_TRY(Settle(run, kIdleLooks * 10));  // until it has begun
    return Said(db_->SetOptions({{kMergeTrigger, std::to_string(kSortedRuns)}}));
  }

  /// Waits here, not in RocksDB, while compaction falls behind: a run can be stopped meanwhile.
  Status WriteRows(RunContext& run, rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions options = Unlogged();
    options.no_slowdown = true;
    const std::uint64_t failures = Failures();
    for (;;) {
      const rocksdb::Status status = db_->Write(options, &batch);
      if (!status.IsIncomplete()) return Said(status);
      if (Failures() > failures) {
        return Error(Code::kExhausted, fmt::format("index {}: RocksDB cannot merge what was "
                                                   "written; is the disk full?",
                                                   folder_));
      }
      IW_TRY(run.SleepFor(kStallPause));
    }
  }

  Status AddRows(RunContext& run, const RowKeys& keys, const DataFile& file, std::uint64_t number) {
    rocksdb::WriteBatch batch;
    Bytes entry;
    const auto put = [&](std::int64_t position, ByteView key) -> Status {
      entry = key;
      AppendBig(entry, number);
      AppendBig(entry, static_cast<std::uint64_t>(position));
      batch.Put(entry, {});
      if (batch.GetDataSize() < kBatchBytes) return {};
      IW_TRY(WriteRows(run, batch));
      batch.Clear();
      return {};
    };
    IW_TRY(keys.VisitRows(run, file, put));
    IW_TRY(WriteRows(run, batch));
    run.progress().Advance();
    return {};
  }

  void Close() {
    if (db_ == nullptr) return;
    db_->Close();
    delete db_;
    db_ = nullptr;
  }

  const std::string folder_;
  Reservation memory_;
  rocksdb::DB* db_ = nullptr;
  mutable std::atomic<bool> broken_ = false;
  std::unordered_map<std::string, StoredFile> files_;
  std::int64_t rows_ = 0;
};

/// Any branch name as the name of a folder.
std::string Escaped(std::string_view branch) {
  std::string out;
  for (const char c : branch) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::int64_t LiveRows(const TableMetadata& metadata, const std::string& branch) {
  constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max() / 4;
  const Snapshot* head = metadata.FindRef(branch);
  const std::string* text = head == nullptr ? nullptr : FindKey(head->summary, "total-records");
  std::int64_t rows = kUnknown;
  if (text != nullptr && !ParseField(*text, FieldUnit::kNone, rows)) rows = kUnknown;
  return std::clamp<std::int64_t>(rows, 0, kUnknown);
}

}  // namespace

Result<OpenedKeyPlaces> OpenStoredKeyPlaces(RunContext& run, const ConvertSettings& settings,
                                            const TableMetadata& metadata,
                                            const std::string& layout, bool rebuild) {
  const std::filesystem::path folder =
      std::filesystem::path(settings.index_path) / metadata.table_uuid / Escaped(settings.target);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error(failed == std::errc::permission_denied ? Code::kDenied : Code::kIo,
                 fmt::format("index-path: cannot make the folder {}: {}", folder.string(),
                             failed.message()));
  }
  const std::string header = fmt::format("{}\n{}\n{}", kVersion, metadata.table_uuid, layout);
  auto store = std::make_unique<Store>(folder.string());
  IW_ASSIGN(const bool usable, store->Open(run, header));
  const std::int64_t live = LiveRows(metadata, settings.target);
  std::string why = rebuild ? "it was damaged" : "";
  if (!usable) why = "it was made for other key columns or is damaged";
  if (store->rows() > live + live * kMostDeadRows + kFewRows) {
    why = "most of its rows were in files that are gone";
  }
  if (why.empty()) return OpenedKeyPlaces{.places = std::move(store)};
  IW_TRY(store->Destroy());
  store = std::make_unique<Store>(folder.string());
  IW_ASSIGN(const bool fresh, store->Open(run, header));
  if (!fresh) {
    return Error(Code::kIo, fmt::format("index {}: it is damaged and cannot be made anew; remove "
                                        "the folder",
                                        folder.string()));
  }
  return OpenedKeyPlaces{.places = std::move(store),
                         .note = fmt::format("index {} was begun anew: {}", folder.string(), why)};
}

}  // namespace icewright
