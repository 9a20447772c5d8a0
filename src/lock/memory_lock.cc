#include "lock/memory_lock.h"

#include <map>
#include <utility>

#include "lock/lease_watch.h"

namespace icewright {

struct MemoryLockTable::Row {
  std::string instance;
  std::string owner;
  TimePoint since;
  std::optional<Milliseconds> lease_end;  // by the steady clock
};

struct MemoryLockTable::Rows {
  std::mutex mutex;
  std::map<std::pair<LockKind, std::string>, Row> rows;  // guarded by mutex
};

MemoryLockTable::MemoryLockTable() : rows_(std::make_unique<Rows>()) {}
MemoryLockTable::~MemoryLockTable() = default;

namespace {

// What the two locks of a client share: the instances that are its own.
struct Client {
  std::string lock_id;
  LockOptions options;
  std::string table_instance = {};     // guarded by the table's mutex; empty: not held
  std::string recovery_instance = {};  // likewise

  std::string NewInstance() {
    return options.random != nullptr ? options.random->NewUuid() : Random().NewUuid();
  }
};

}  // namespace

class MemoryLock final : public MaintenanceLock {
 public:
  MemoryLock(LockKind kind, std::shared_ptr<MemoryLockTable> table, std::shared_ptr<Client> client)
      : kind_(kind), table_(std::move(table)), client_(std::move(client)) {}

  Result<bool> TryAcquire() override {
    auto& [mutex, rows] = *table_->rows_;
    const std::scoped_lock lock(mutex);
    const Milliseconds now = client_->options.clock->Steady();
    const auto is_free = [&](const std::pair<LockKind, std::string>& key) {
      const auto row = rows.find(key);
      if (row == rows.end()) return true;
      if (!row->second.lease_end || *row->second.lease_end > now) return false;
      client_->options.log->Warning("lock " + client_->lock_id + ": freed, the lease of " +
                                    row->second.owner + " is over");
      rows.erase(row);
      return true;
    };
    if (kind_ == LockKind::kTable) {
      const auto recovery = rows.find({LockKind::kRecovery, client_->lock_id});
      const bool own =
          recovery != rows.end() && recovery->second.instance == client_->recovery_instance;
      if (!own && !is_free({LockKind::kRecovery, client_->lock_id})) return false;
    }
    if (!is_free(Key())) return false;
    mine() = client_->NewInstance();
    rows[Key()] = {mine(), client_->options.owner, client_->options.clock->Now(), LeaseEnd()};
    return true;
  }

  Result<bool> IsHeld() override {
    auto& [mutex, rows] = *table_->rows_;
    const std::scoped_lock lock(mutex);
    return rows.contains(Key());
  }

  Status Renew() override {
    auto& [mutex, rows] = *table_->rows_;
    const std::scoped_lock lock(mutex);
    const auto row = rows.find(Key());
    if (mine().empty() || row == rows.end() || row->second.instance != mine()) {
      mine().clear();
      return Error(Code::kLockLost, "lock " + client_->lock_id + " is no longer ours");
    }
    row->second.lease_end = LeaseEnd();
    return {};
  }

  Status Release() override {
    auto& [mutex, rows] = *table_->rows_;
    const std::scoped_lock lock(mutex);
    const auto row = rows.find(Key());
    if (row != rows.end() && row->second.instance == mine()) rows.erase(row);
    mine().clear();
    return {};
  }

  Result<LockState> Inspect() override {
    const std::scoped_lock lock(table_->rows_->mutex);
    return StateLocked();
  }

  Result<LockState> ForceRelease() override {
    const std::scoped_lock lock(table_->rows_->mutex);
    LockState state = StateLocked();
    table_->rows_->rows.erase(Key());
    return state;
  }

 private:
  std::pair<LockKind, std::string> Key() const { return {kind_, client_->lock_id}; }
  std::string& mine() const {
    return kind_ == LockKind::kTable ? client_->table_instance : client_->recovery_instance;
  }

  std::optional<Milliseconds> LeaseEnd() const {
    if (client_->options.lease <= Milliseconds(0)) return std::nullopt;
    return client_->options.clock->Steady() + client_->options.lease;
  }

  LockState StateLocked() const {
    const auto& rows = table_->rows_->rows;
    const auto found = rows.find(Key());
    if (found == rows.end()) return {};
    const MemoryLockTable::Row& row = found->second;
    LockState state{.held = true,
                    .ours = row.instance == mine(),
                    .instance = row.instance,
                    .owner = row.owner,
                    .since = row.since,
                    .lease_until = {}};
    if (row.lease_end) {
      const Milliseconds left = *row.lease_end - client_->options.clock->Steady();
      state.lease_until = client_->options.clock->Now() + left;
      state.lease_over = left <= Milliseconds(0);
    }
    return state;
  }

  const LockKind kind_;
  const std::shared_ptr<MemoryLockTable> table_;
  const std::shared_ptr<Client> client_;
};

Result<std::shared_ptr<LockFactory>> MakeMemoryLocks(std::shared_ptr<MemoryLockTable> table,
                                                     std::string lock_id, LockOptions options) {
  IW_TRY(CheckLockOptions(lock_id, options));
  const auto client = std::make_shared<Client>(std::move(lock_id), std::move(options));
  return std::make_shared<LockFactory>(
      std::make_shared<MemoryLock>(LockKind::kTable, table, client),
      std::make_shared<MemoryLock>(LockKind::kRecovery, table, client), client->options.lease);
}

}  // namespace icewright
