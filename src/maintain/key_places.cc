#include "maintain/key_places.h"

#include <utility>

#include "base/executor.h"

namespace icewright {
namespace {

/// Of one row, with its node, its bucket and the allocator's share.
constexpr std::int64_t kRowBytes = 112;

}  // namespace

Result<std::vector<std::uint64_t>> KeyPlacesInMemory::Learn(
    RunContext& run, const RowKeys& keys, const std::vector<const DataFile*>& files) {
  std::vector<std::uint64_t> numbers;
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto known = numbers_.find(files[i]->file_path.text());
    if (known == numbers_.end()) fresh.push_back(i);
    numbers.push_back(known == numbers_.end() ? next_number_++ : known->second);
  }
  IW_TRY(ParallelFor(run, fresh.size(), run.threads(), [&](std::size_t i) {
    return Add(run, keys, *files[fresh[i]], numbers[fresh[i]]);
  }));
  for (const std::size_t i : fresh) {
    numbers_.emplace(files[i]->file_path.text(), numbers[i]);
    rows_read_ += files[i]->record_count;
  }
  files_read_ += std::ssize(fresh);
  return numbers;
}

Status KeyPlacesInMemory::Add(RunContext& run, const RowKeys& keys, const DataFile& file,
                              std::uint64_t number) {
  std::vector<std::pair<std::string, RowPlace>> rows;
  Reservation memory;
  std::int64_t bytes = 0;
  const auto reserve = [&](Reservation& of, std::int64_t size) -> Status {
    if (of.bytes() > 0) return of.Resize(size);
    IW_ASSIGN(of, budget_.Reserve(size, "rows of deleted keys"));
    return {};
  };
  const auto keep = [&](std::int64_t position, ByteView key) -> Status {
    bytes += kRowBytes + std::ssize(key);
    if (bytes > memory.bytes()) IW_TRY(reserve(memory, bytes * 2));
    rows.emplace_back(std::string(key), RowPlace{number, position});
    return {};
  };
  IW_TRY(keys.VisitRows(run, file, keep));
  run.progress().Advance();
  if (rows.empty()) return {};
  const std::scoped_lock lock(mutex_);
  IW_TRY(reserve(memory_, memory_.bytes() + bytes));
  for (auto& row : rows) rows_.insert(std::move(row));
  return {};
}

Status KeyPlacesInMemory::Find(const std::vector<Bytes>& keys, const Visit& visit) const {
  for (const Bytes& key : keys) {
    const auto [first, last] = rows_.equal_range(key);
    for (auto at = first; at != last; ++at) IW_TRY(visit(at->second));
  }
  return {};
}

}  // namespace icewright
