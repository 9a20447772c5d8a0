#include "lock/zookeeper/zk_lock.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

#include "lock/lease_watch.h"
#include "lock/zookeeper/zk_payload.h"

namespace icewright {
namespace {

constexpr std::string_view kRoot = "/iceberg/flink/maintenance/locks/";

enum class Standing : std::uint8_t { kFree, kTaken, kDead };

// The nodes of one lock id, and what the two locks of a client share.
class ZkLockClient {
 public:
  ZkLockClient(std::shared_ptr<ZkClient> zk, std::string lock_id, LockOptions options)
      : zk_(std::move(zk)), lock_id_(std::move(lock_id)), options_(std::move(options)) {}

  ZkClient& zk() { return *zk_; }
  const LockOptions& options() const { return options_; }
  const std::string& lock_id() const { return lock_id_; }

  std::string NewInstance() {
    return options_.random != nullptr ? options_.random->NewUuid() : Random().NewUuid();
  }

  std::string Leaf(LockKind kind) const {
    return std::string(kRoot) + lock_id_ + (kind == LockKind::kTable ? "/task" : "/recovery");
  }
  std::string Sibling(LockKind kind, const std::string& instance) const {
    return std::string(kRoot) + lock_id_ +
           (kind == LockKind::kTable ? "/icewright-task-" : "/icewright-recovery-") + instance;
  }

  // The leaf, made if it is missing.
  Result<ZkNode> Node(LockKind kind) {
    IW_ASSIGN(auto node, zk_->Get(Leaf(kind)));
    if (!node) {
      IW_TRY(zk_->Create(Leaf(kind), ZkPayload{}.Encode()));
      IW_ASSIGN(node, zk_->Get(Leaf(kind)));
    }
    if (!node) return Error(Code::kIo, Leaf(kind) + " vanishes as soon as it is made");
    return *node;
  }

  // What the payload and the owner's node tell together.
  Result<Standing> Judge(LockKind kind, const ZkPayload& payload) {
    if (!payload.held) return Standing::kFree;
    if (payload.instance.empty() || !payload.has_lease) return Standing::kTaken;
    IW_ASSIGN(const auto sibling, zk_->Get(Sibling(kind, payload.instance)));
    return sibling ? Standing::kTaken : Standing::kDead;
  }

  // A recovery lock of somebody else. One whose holder is dead is freed on the way.
  Result<bool> ForeignRecovery() {
    IW_ASSIGN(const auto node, zk_->Get(Leaf(LockKind::kRecovery)));
    if (!node) return false;
    IW_ASSIGN(const ZkPayload payload, Decode(LockKind::kRecovery, *node));
    {
      const std::scoped_lock lock(mutex_);
      if (payload.held && payload.instance == own_recovery_ && !own_recovery_.empty()) return false;
    }
    IW_ASSIGN(const Standing standing, Judge(LockKind::kRecovery, payload));
    if (standing != Standing::kDead) return standing == Standing::kTaken;
    const ZkOp free[] = {{.kind = ZkOp::Kind::kSet,
                          .path = Leaf(LockKind::kRecovery),
                          .data = ZkPayload{}.Encode(),
                          .version = node->version}};
    const Status freed = zk_->Transact(free);
    if (!freed && freed.error().code() == Code::kConflict) return true;  // somebody was faster
    if (!freed) return Away(freed.error());
    Tell(payload.instance);
    return false;
  }

  void Tell(const std::string& instance) {
    options_.log->Warning("lock " + lock_id_ + ": taken over; the session of its holder (" +
                          instance + ") is over");
  }

  Result<ZkPayload> Decode(LockKind kind, const ZkNode& node) const {
    return ZkPayload::Decode(node.data).Within("ZooKeeper node " + Leaf(kind));
  }

  void SetOwnRecovery(const std::string& instance) {
    const std::scoped_lock lock(mutex_);
    own_recovery_ = instance;
  }

  static Error Away(const Error& error) {
    if (error.code() != Code::kCommitUnknown) return error;
    return {Code::kUnavailable, error.message()};
  }

 private:
  const std::shared_ptr<ZkClient> zk_;
  const std::string lock_id_;
  const LockOptions options_;
  std::mutex mutex_;
  std::string own_recovery_;  // guarded by mutex_
};

LockOptions WithSessionAsLease(const LockOptions& options, ZkClient& zk) {
  LockOptions with = options;
  if (with.lease > Milliseconds(0)) with.lease = zk.session_timeout();
  return with;
}

class ZkLock final : public MaintenanceLock {
 public:
  ZkLock(LockKind kind, std::shared_ptr<ZkLockClient> client)
      : kind_(kind), client_(std::move(client)), watch_(client_->options()) {}

  Result<bool> TryAcquire() override {
    const std::scoped_lock lock(mutex_);
    if (watch_.lost() || releasing_) IW_TRY(ReleaseLocked());
    if (!mine_.empty() && !in_doubt_) return false;
    IW_ASSIGN(ZkNode node, client_->Node(kind_));
    IW_ASSIGN(ZkPayload payload, client_->Decode(kind_, node));
    if (in_doubt_) {
      IW_ASSIGN(const bool ours, IsOurs(payload));
      if (ours) return Settle(node.version);
      Disown();
    }
    if (kind_ == LockKind::kTable) {
      IW_ASSIGN(const bool recovering, client_->ForeignRecovery());
      if (recovering) return false;
    }
    IW_ASSIGN(const Standing standing, client_->Judge(kind_, payload));
    if (standing == Standing::kTaken && !std::ranges::count(disowned_, payload.instance)) {
      return false;
    }
    IW_ASSIGN(const bool taken, Take(node.version));
    if (taken && standing == Standing::kDead) client_->Tell(payload.instance);
    return taken;
  }

  Result<bool> IsHeld() override {
    IW_ASSIGN(const auto node, client_->zk().Get(client_->Leaf(kind_)));
    if (!node) return false;
    IW_ASSIGN(const ZkPayload payload, client_->Decode(kind_, *node));
    return payload.held;
  }

  Status Renew() override {
    return watch_.Prove("lock " + client_->lock_id(), [this] { return ProveOnce(); });
  }

  Status Release() override {
    const std::scoped_lock lock(mutex_);
    return ReleaseLocked();
  }

  Result<LockState> Inspect() override {
    IW_ASSIGN(const auto node, client_->zk().Get(client_->Leaf(kind_)));
    if (!node) return LockState{};
    IW_ASSIGN(const ZkPayload payload, client_->Decode(kind_, *node));
    return StateOf(payload);
  }

  Result<LockState> ForceRelease() override {
    // Only what was looked at is freed: the next holder's lock is not meant.
    constexpr int kTries = 5;
    for (int i = 0; i < kTries; ++i) {
      IW_ASSIGN(const auto node, client_->zk().Get(client_->Leaf(kind_)));
      if (!node) return LockState{};
      IW_ASSIGN(const ZkPayload payload, client_->Decode(kind_, *node));
      IW_ASSIGN(LockState state, StateOf(payload));
      if (!state.held) return state;
      const Status freed = client_->zk().Transact(FreeLeaf(node->version));
      if (freed) return state;
      if (freed.error().code() != Code::kConflict) return ZkLockClient::Away(freed.error());
    }
    return Error(Code::kUnavailable, "lock " + client_->lock_id() + " changes hands all the time");
  }

 private:
  std::vector<ZkOp> FreeLeaf(std::int32_t version) const {
    return {{.kind = ZkOp::Kind::kSet,
             .path = client_->Leaf(kind_),
             .data = ZkPayload{}.Encode(),
             .version = version}};
  }

  void Forget() {
    mine_.clear();
    in_doubt_ = false;
    releasing_ = false;
    watch_.Reset();
    if (kind_ == LockKind::kRecovery) client_->SetOwnRecovery("");
  }

  // The transaction may still arrive: then the node would be held by our own session, for no lock.
  void Disown() {
    constexpr std::size_t kRemembered = 16;
    if (disowned_.size() == kRemembered) disowned_.erase(disowned_.begin());
    disowned_.push_back(mine_);
    Forget();
  }

  // True if the node names mine_, and its lease is our session.
  Result<bool> IsOurs(const ZkPayload& payload) {
    if (mine_.empty() || payload.instance != mine_) return false;
    if (!has_lease_) return true;
    IW_ASSIGN(const auto sibling, client_->zk().Get(client_->Sibling(kind_, mine_)));
    return sibling && sibling->owner_session == client_->zk().session();
  }

  Result<bool> Take(std::int32_t version) {
    const std::string instance = client_->NewInstance();
    has_lease_ = client_->options().lease > Milliseconds(0);
    Status taken = Send(instance, version);
    if (!taken && has_lease_ && taken.error().code() == Code::kDenied) {
      has_lease_ = false;
      client_->options().log->Warning(
          "lock " + client_->lock_id() + ": ZooKeeper allows no node for its owner: it has no " +
          "lease; if this process dies, only 'icewright lock release --force' frees it");
      taken = Send(instance, version);
    }
    if (!taken && taken.error().code() == Code::kConflict) return false;
    if (!taken && taken.error().code() != Code::kCommitUnknown) return taken.error();
    mine_ = instance;
    in_doubt_ = true;
    ++version;
    if (!taken) {
      const auto node = client_->Node(kind_);
      if (!node) return node.error();
      IW_ASSIGN(const ZkPayload payload, client_->Decode(kind_, *node));
      IW_ASSIGN(const bool ours, IsOurs(payload));
      if (!ours) {
        Disown();
        return Error(Code::kUnavailable, taken.error().message());
      }
      version = node->version;
    }
    return Settle(version);
  }

  Status Send(const std::string& instance, std::int32_t version) {
    std::vector<ZkOp> ops;
    if (has_lease_) {
      ops.push_back({.kind = ZkOp::Kind::kCreateEphemeral,
                     .path = client_->Sibling(kind_, instance),
                     .data = std::to_string(client_->options().lease.count()) + " " +
                             client_->options().owner});
    }
    ops.push_back({.kind = ZkOp::Kind::kSet,
                   .path = client_->Leaf(kind_),
                   .data = ZkPayload{true, instance, has_lease_}.Encode(),
                   .version = version});
    return client_->zk().Transact(ops);
  }

  // The node is ours with this version. Did no recovery begin meanwhile?
  Result<bool> Settle(std::int32_t version) {
    const Milliseconds asked_at = client_->options().clock->Steady();
    version_ = version;
    session_ = client_->zk().session();
    if (kind_ == LockKind::kTable) {
      IW_ASSIGN(const bool recovering, client_->ForeignRecovery());
      if (recovering) {
        IW_TRY(ReleaseLocked());
        return false;
      }
    } else {
      client_->SetOwnRecovery(mine_);
    }
    in_doubt_ = false;
    watch_.Start(asked_at);
    return true;
  }

  Status ReleaseLocked() {
    if (mine_.empty()) return {};
    releasing_ = true;  // until it is done: the next TryAcquire goes on with it
    Status freed = FreeMine();
    // All of it names this acquisition, so it may run twice.
    if (!freed && freed.error().code() == Code::kCommitUnknown) freed = FreeMine();
    if (!freed) return ZkLockClient::Away(freed.error());
    return {};
  }

  Status FreeMine() {
    IW_ASSIGN(const auto node, client_->zk().Get(client_->Leaf(kind_)));
    bool was_there = false;
    if (node) {
      IW_ASSIGN(const ZkPayload payload, client_->Decode(kind_, *node));
      was_there = payload.instance == mine_;
      if (was_there) IW_TRY(GoneOrDone(client_->zk().Transact(FreeLeaf(node->version))));
    }
    if (has_lease_) {
      const ZkOp remove[] = {{.kind = ZkOp::Kind::kDelete, .path = client_->Sibling(kind_, mine_)}};
      IW_TRY(GoneOrDone(client_->zk().Transact(remove)));
    }
    if (in_doubt_ && !was_there) {
      Disown();
    } else {
      Forget();
    }
    return {};
  }

  static Status GoneOrDone(Status status) {
    return !status && status.error().code() == Code::kConflict ? Status() : status;
  }

  // False: no longer ours. Checks of versions go through the leader: no server's old copy can
  // answer, and both nodes are seen at one moment.
  Result<bool> ProveOnce() {
    const std::scoped_lock lock(mutex_);
    if (mine_.empty() || in_doubt_ || releasing_) return false;
    std::vector<ZkOp> checks = {
        {.kind = ZkOp::Kind::kCheck, .path = client_->Leaf(kind_), .version = version_}};
    if (has_lease_) {
      checks.push_back({.kind = ZkOp::Kind::kCheck, .path = client_->Sibling(kind_, mine_)});
    }
    const Status checked = client_->zk().Transact(checks);
    if (!checked && checked.error().code() == Code::kConflict) return false;
    if (!checked) return checked.error();
    // A new session owns no node of the old one.
    return !has_lease_ || client_->zk().session() == session_;
  }

  Result<LockState> StateOf(const ZkPayload& payload) {
    LockState state;
    state.held = payload.held;
    if (!payload.held) return state;
    state.instance = payload.instance;
    {
      const std::scoped_lock lock(mutex_);
      state.ours = !mine_.empty() && payload.instance == mine_;
    }
    if (payload.instance.empty() || !payload.has_lease) return state;
    IW_ASSIGN(const auto sibling, client_->zk().Get(client_->Sibling(kind_, payload.instance)));
    const TimePoint now = client_->options().clock->Now();
    if (!sibling) {
      state.lease_over = true;
      state.lease_until = now;
      return state;
    }
    const std::size_t space = std::min(sibling->data.find(' '), sibling->data.size());
    std::int64_t lease_ms = 0;
    std::from_chars(sibling->data.data(), sibling->data.data() + space, lease_ms);
    if (space < sibling->data.size()) state.owner = sibling->data.substr(space + 1);
    state.since = sibling->created;
    state.lease_until = now + Milliseconds(lease_ms);  // its session lives
    return state;
  }

  const LockKind kind_;
  const std::shared_ptr<ZkLockClient> client_;
  LeaseWatch watch_;
  std::mutex mutex_;
  std::string mine_;                   // guarded by mutex_; the instance that is ours, or may be
  bool in_doubt_ = false;              // guarded by mutex_; the node may or may not be ours
  bool releasing_ = false;             // guarded by mutex_; a release has begun and not ended
  bool has_lease_ = false;             // guarded by mutex_
  std::int32_t version_ = 0;           // guarded by mutex_; of the leaf while it is ours
  std::int64_t session_ = 0;           // guarded by mutex_; that took it
  std::vector<std::string> disowned_;  // guarded by mutex_; acquisitions that were given up
};

}  // namespace

Result<std::shared_ptr<LockFactory>> MakeZkLocks(std::shared_ptr<ZkClient> client,
                                                 const std::string& lock_id,
                                                 const LockOptions& options) {
  IW_TRY(CheckLockOptions(lock_id, options));
  IW_TRY(CheckZkLockId(lock_id));
  const LockOptions with = WithSessionAsLease(options, *client);
  const auto shared = std::make_shared<ZkLockClient>(std::move(client), lock_id, with);
  return std::make_shared<LockFactory>(std::make_shared<ZkLock>(LockKind::kTable, shared),
                                       std::make_shared<ZkLock>(LockKind::kRecovery, shared),
                                       with.lease);
}

}  // namespace icewright
