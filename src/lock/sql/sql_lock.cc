#include "lock/sql/sql_lock.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "lock/lease_watch.h"
#include "lock/sql/lease_table.h"

namespace icewright {
namespace {

constexpr std::string_view kTable = "flink_maintenance_lock";
constexpr std::string_view kCreate =
    "CREATE TABLE IF NOT EXISTS flink_maintenance_lock (LOCK_TYPE CHAR(1) NOT NULL, "
    "LOCK_ID VARCHAR(100) NOT NULL, INSTANCE_ID CHAR(36) NOT NULL, "
    "PRIMARY KEY (LOCK_TYPE, LOCK_ID))";

// The rows of one lock id, and what the two locks of a client share.
class SqlClient {
 public:
  SqlClient(std::shared_ptr<SqlStore> store, std::string lock_id, LockOptions options)
      : store_(std::move(store)),
        lock_id_(std::move(lock_id)),
        options_(std::move(options)),
        leases_(store_, options_) {}

  const LockOptions& options() const { return options_; }
  const std::string& lock_id() const { return lock_id_; }
  LeaseTable& leases() { return leases_; }

  std::string NewInstance() {
    return options_.random != nullptr ? options_.random->NewUuid() : Random().NewUuid();
  }

  // Instance id of whoever holds the lock; empty: nobody.
  Result<std::string> HolderOf(LockKind kind) {
    const std::vector<SqlValue> values = {LockTypeText(kind), lock_id_};
    IW_ASSIGN(const auto rows,
              store_->Query("SELECT INSTANCE_ID FROM flink_maintenance_lock WHERE LOCK_TYPE=? AND "
                            "LOCK_ID=?",
                            values));
    return rows.empty() ? std::string() : rows.front()[0].value_or("");
  }

  Result<std::int64_t> Insert(LockKind kind, const std::string& instance) {
    const std::vector<SqlValue> values = {LockTypeText(kind), lock_id_, instance};
    return store_->Execute(
        "INSERT INTO flink_maintenance_lock (LOCK_TYPE, LOCK_ID, INSTANCE_ID) VALUES (?, ?, ?)",
        values);
  }

  // Only this acquisition's row: a repeated delete must not hit the next holder. False: it was not
  // there (any more).
  Result<bool> Delete(LockKind kind, const std::string& instance) {
    const std::vector<SqlValue> values = {LockTypeText(kind), lock_id_, instance};
    IW_ASSIGN(const std::int64_t rows,
              ExecuteTwice(*store_,
                           "DELETE FROM flink_maintenance_lock WHERE LOCK_TYPE=? AND LOCK_ID=? AND "
                           "INSTANCE_ID=?",
                           values));
    return rows > 0;
  }

  // True if anybody holds the lock who is alive, or who cannot be told to be dead. A lock whose
  // lease is over is freed on the way.
  Result<bool> IsTaken(LockKind kind) {
    IW_ASSIGN(const std::string holder, HolderOf(kind));
    if (holder.empty()) return false;
    IW_ASSIGN(const auto lease, leases_.Find(holder));
    if (!lease || !lease->over) return true;
    IW_ASSIGN(const bool claimed, leases_.Claim(holder));
    if (!claimed) return true;  // its heartbeat came at the last moment
    IW_TRY(Delete(kind, holder));
    IW_TRY(leases_.Delete(holder));
    options_.log->Warning("lock " + lock_id_ + ": freed; the lease of its holder (" + lease->owner +
                          ") is over");
    return false;
  }

  // What a new acquisition of the recovery lock, by this client, may ignore.
  void SetOwnRecovery(const std::string& instance) {
    const std::scoped_lock lock(mutex_);
    own_recovery_ = instance;
  }

  // A recovery lock of somebody else: a restarted Flink job replays old work under it.
  Result<bool> ForeignRecovery() {
    {
      IW_ASSIGN(const std::string holder, HolderOf(LockKind::kRecovery));
      const std::scoped_lock lock(mutex_);
      if (holder.empty() || holder == own_recovery_) return false;
    }
    return IsTaken(LockKind::kRecovery);
  }

 private:
  const std::shared_ptr<SqlStore> store_;
  const std::string lock_id_;
  const LockOptions options_;
  LeaseTable leases_;
  std::mutex mutex_;
  std::string own_recovery_;  // guarded by mutex_
};

class SqlLock final : public MaintenanceLock {
 public:
  SqlLock(LockKind kind, std::shared_ptr<SqlClient> client)
      : kind_(kind), client_(std::move(client)), watch_(client_->options()) {}

  Result<bool> TryAcquire() override {
    const std::scoped_lock lock(mutex_);
    if (watch_.lost() || releasing_) IW_TRY(ReleaseLocked());
    if (!mine_.empty() && !in_doubt_) return false;
    if (in_doubt_) {
      IW_ASSIGN(const std::string holder, client_->HolderOf(kind_));
      if (holder == mine_) return Settle();
      Forget();
    }
    if (kind_ == LockKind::kTable) {
      IW_ASSIGN(const bool recovering, client_->ForeignRecovery());
      if (recovering) return false;
    }
    IW_ASSIGN(const bool taken, client_->IsTaken(kind_));
    if (taken) return false;
    has_lease_ = false;
    if (client_->options().lease > Milliseconds(0)) {
      IW_ASSIGN(has_lease_, client_->leases().Prepare());
    }
    return InsertLocked();
  }

  Result<bool> IsHeld() override {
    IW_ASSIGN(const std::string holder, client_->HolderOf(kind_));
    return !holder.empty();
  }

  Status Renew() override {
    return watch_.Prove("lock " + client_->lock_id(), [this] { return ProveOnce(); });
  }

  Status Release() override {
    const std::scoped_lock lock(mutex_);
    return ReleaseLocked();
  }

  Result<LockState> Inspect() override {
    IW_ASSIGN(const std::string holder, client_->HolderOf(kind_));
    if (holder.empty()) return LockState{};
    LockState state;
    state.held = true;
    state.instance = holder;
    {
      const std::scoped_lock lock(mutex_);
      state.ours = holder == mine_;
    }
    IW_ASSIGN(const auto lease, client_->leases().Find(holder));
    if (lease) {
      state.owner = lease->owner;
      state.since = lease->since;
      state.lease_until = lease->until;
      state.lease_over = lease->over;
    }
    return state;
  }

  Result<LockState> ForceRelease() override {
    IW_ASSIGN(LockState state, Inspect());
    if (!state.held) return state;
    IW_TRY(client_->Delete(kind_, state.instance));
    if (state.lease_until) IW_TRY(client_->leases().Delete(state.instance));
    return state;
  }

 private:
  void Forget() {
    mine_.clear();
    in_doubt_ = false;
    releasing_ = false;
    watch_.Reset();
    if (kind_ == LockKind::kRecovery) client_->SetOwnRecovery("");
  }

  Result<bool> InsertLocked() {
    const std::string instance = client_->NewInstance();
    if (has_lease_) {
      const Status leased = client_->leases().Insert(kind_, client_->lock_id(), instance);
      if (!leased && leased.error().code() == Code::kDenied) {
        client_->leases().WarnOnce(leased.error().message());
        has_lease_ = false;
      } else {
        IW_TRY(AsUnavailable(leased));
      }
    }
    const auto inserted = client_->Insert(kind_, instance);
    if (!inserted && !IsAway(inserted.error().code())) {
      if (has_lease_) IW_TRY(client_->leases().Delete(instance));
      if (inserted.error().code() == Code::kAlreadyExists) return false;  // lost the race
      return inserted.error();
    }
    // From here on the row may be there. Its lease stays in any case: a statement that arrives late
    // must not make a lock that nobody can tell to be dead.
    mine_ = instance;
    in_doubt_ = true;
    if (!inserted) {
      IW_ASSIGN(const std::string holder, client_->HolderOf(kind_));
      if (holder != instance) {
        Forget();
        return Error(Code::kUnavailable, inserted.error().message());
      }
    }
    return Settle();
  }

  // The row is ours. Is its lease still, and did no recovery begin meanwhile?
  Result<bool> Settle() {
    in_doubt_ = false;
    const Milliseconds sent = client_->options().clock->Steady();
    if (has_lease_) {
      const auto extended = client_->leases().Extend(mine_);
      if (!extended) return AfterDoubt(extended.error());
      if (!*extended) return BackOff();
    }
    if (kind_ == LockKind::kTable) {
      const auto recovering = client_->ForeignRecovery();
      if (!recovering) return AfterDoubt(recovering.error());
      if (*recovering) return BackOff();
    } else {
      client_->SetOwnRecovery(mine_);
    }
    watch_.Start(sent);
    if (has_lease_) {
      // What is left there hinders nobody; the next acquisition tries again.
      const Status swept = client_->leases().Sweep(kind_, client_->lock_id(), mine_);
      if (!swept) client_->options().log->Debug(swept.error().message());
    }
    return true;
  }

  Error AfterDoubt(const Error& error) {
    in_doubt_ = true;
    return error;
  }

  Result<bool> BackOff() {
    in_doubt_ = true;  // until the row is known to be gone
    IW_TRY(ReleaseLocked());
    return false;
  }

  Status ReleaseLocked() {
    if (mine_.empty()) return {};
    releasing_ = true;  // until it is done: the next TryAcquire goes on with it
    IW_ASSIGN(const bool was_there, client_->Delete(kind_, mine_));
    // A row in doubt that is not there may still arrive: then its lease must be there.
    if (has_lease_ && (was_there || !in_doubt_)) IW_TRY(client_->leases().Delete(mine_));
    Forget();
    return {};
  }

  static Status AsUnavailable(Status status) {
    if (status || status.error().code() != Code::kCommitUnknown) return status;
    return Error(Code::kUnavailable, status.error().message());
  }

  // False: no longer ours.
  Result<bool> ProveOnce() {
    const std::scoped_lock lock(mutex_);
    if (mine_.empty() || in_doubt_ || releasing_) return false;
    if (has_lease_) {
      IW_ASSIGN(const bool extended, client_->leases().Extend(mine_));
      if (!extended) return false;
    }
    IW_ASSIGN(const std::string holder, client_->HolderOf(kind_));
    return holder == mine_;
  }

  const LockKind kind_;
  const std::shared_ptr<SqlClient> client_;
  LeaseWatch watch_;
  std::mutex mutex_;
  std::string mine_;        // guarded by mutex_; the instance that is ours, or may be
  bool in_doubt_ = false;   // guarded by mutex_; the row of mine_ may or may not be there
  bool releasing_ = false;  // guarded by mutex_; a release has begun and not ended
  bool has_lease_ = false;  // guarded by mutex_
};

// As Java counts: UTF-16 units.
std::size_t JavaLength(std::string_view utf8) {
  std::size_t units = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

Status PrepareTable(SqlStore& store, bool init_table) {
  IW_ASSIGN(auto columns, store.ColumnsOf(kTable));
  if (!columns.empty()) return {};
  if (!init_table) {
    return Error(Code::kNotFound,
                 store.Display() +
                     " has no table flink_maintenance_lock: check the database's name, or set "
                     "flink-maintenance.lock.jdbc.init-lock-table=true");
  }
  const auto made = store.Execute(kCreate, {});
  IW_ASSIGN(columns, store.ColumnsOf(kTable));  // another client may have been faster
  if (!columns.empty()) return {};
  return made ? Error(Code::kIo, store.Display() + ": flink_maintenance_lock does not appear")
              : made.error();
}

}  // namespace

Result<std::shared_ptr<LockFactory>> MakeSqlLocks(std::shared_ptr<SqlStore> store,
                                                  const std::string& lock_id,
                                                  const LockOptions& options, bool init_table) {
  IW_TRY(CheckLockOptions(lock_id, options));
  if (JavaLength(lock_id) >= 100) {
    return Error(Code::kInvalidArgument,
                 "lock id '" + lock_id + "' has 100 characters or more: set a shorter lock-id");
  }
  IW_TRY(PrepareTable(*store, init_table));
  const auto client = std::make_shared<SqlClient>(std::move(store), lock_id, options);
  return std::make_shared<LockFactory>(std::make_shared<SqlLock>(LockKind::kTable, client),
                                       std::make_shared<SqlLock>(LockKind::kRecovery, client),
                                       options.lease);
}

}  // namespace icewright
