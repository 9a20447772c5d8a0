#include "lock/zookeeper/zk_client.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace icewright {
namespace {

constexpr std::size_t kMaxData = 4096;  // a lock's node has 4 to 21 bytes, an owner's some hundreds

bool IsAwayCode(int rc) {
  return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONMOVED ||
         rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE || rc == ZCLOSING;
}

Code CodeOf(int rc) {
  if (IsAwayCode(rc)) return Code::kUnavailable;
  switch (rc) {
    case ZNOAUTH:
    case ZAUTHFAILED:
      return Code::kDenied;
    case ZBADVERSION:
    case ZNODEEXISTS:
    case ZNONODE:
    case ZRUNTIMEINCONSISTENCY:
      return Code::kConflict;
    case ZBADARGUMENTS:
      return Code::kInvalidArgument;
    default:
      return Code::kIo;
  }
}

void DropLine(const char*) {}

// What the client's own thread tells us.
struct SessionState {
  std::mutex mutex;
  std::condition_variable changed;
  int state = 0;  // guarded by mutex
};

void Watch(zhandle_t*, int type, int state, const char*, void* context) {
  if (type != ZOO_SESSION_EVENT) return;
  auto* const session = static_cast<SessionState*>(context);
  const std::scoped_lock lock(session->mutex);
  session->state = state;
  session->changed.notify_all();
}

class CZkClient final : public ZkClient {
 public:
  CZkClient(ZkOptions options, Clock& clock) : options_(std::move(options)), clock_(clock) {}
  ~CZkClient() override { Close(); }
  CZkClient(const CZkClient&) = delete;
  CZkClient& operator=(const CZkClient&) = delete;

  Status Open() {
    const std::scoped_lock lock(mutex_);
    return ConnectLocked();
  }

  Result<std::optional<ZkNode>> Get(const std::string& path) override {
    const std::scoped_lock lock(mutex_);
    char buffer[kMaxData];
    int length = 0;
    Stat stat{};
    const auto rc = Retried([&] {
      length = static_cast<int>(sizeof(buffer));
      return zoo_get(handle_, path.c_str(), 0, buffer, &length, &stat);
    });
    if (!rc) return rc.error();
    if (*rc == ZNONODE) return std::optional<ZkNode>();
    if (*rc != ZOK) return Failure(*rc, path);
    const auto size = static_cast<std::size_t>(std::max(length, 0));
    return std::optional<ZkNode>(
        {std::string(buffer, size), stat.version, FromMillis(stat.ctime), stat.ephemeralOwner});
  }

  Status Create(const std::string& path, const std::string& data) override {
    const std::scoped_lock lock(mutex_);
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      IW_TRY(CreateOne(path.substr(0, slash), "", ZOO_CONTAINER));
    }
    return CreateOne(path, data, ZOO_PERSISTENT);
  }

  Status Transact(std::span<const ZkOp> ops) override {
    const std::scoped_lock lock(mutex_);
    IW_TRY(ConnectLocked());
    std::vector<zoo_op_t> raw(ops.size());
    std::vector<zoo_op_result_t> results(ops.size());
    std::vector<Stat> stats(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const ZkOp& op = ops[i];
      const int size = static_cast<int>(op.data.size());
      switch (op.kind) {
        case ZkOp::Kind::kCreateEphemeral:
          zoo_create_op_init(&raw[i], op.path.c_str(), op.data.data(), size, &ZOO_OPEN_ACL_UNSAFE,
                             ZOO_EPHEMERAL, nullptr, 0);
          break;
        case ZkOp::Kind::kSet:
          zoo_set_op_init(&raw[i], op.path.c_str(), op.data.data(), size, op.version, &stats[i]);
          break;
        case ZkOp::Kind::kCheck:
          zoo_check_op_init(&raw[i], op.path.c_str(), op.version);
          break;
        case ZkOp::Kind::kDelete:
          zoo_delete_op_init(&raw[i], op.path.c_str(), op.version);
          break;
      }
    }
    const int rc = zoo_multi(handle_, static_cast<int>(ops.size()), raw.data(), results.data());
    if (rc == ZOK) return {};
    const Error error = Failure(rc, ops.front().path);
    if (error.code() != Code::kUnavailable) return error;
    return Error(Code::kCommitUnknown, error.message());
  }

  std::int64_t session() override {
    const std::scoped_lock lock(mutex_);
    const clientid_t* id = handle_ == nullptr || IsExpired() ? nullptr : zoo_client_id(handle_);
    return id == nullptr ? 0 : id->client_id;
  }

  Milliseconds session_timeout() override {
    const std::scoped_lock lock(mutex_);
    const int agreed = handle_ == nullptr ? 0 : zoo_recv_timeout(handle_);
    return agreed > 0 ? Milliseconds(agreed) : options_.session_timeout;
  }

 private:
  Error Failure(int rc, const std::string& path) const {
    return {CodeOf(rc), "ZooKeeper " + options_.connect + ", " + path + ": " + zerror(rc)};
  }

  bool IsExpired() {
    const std::scoped_lock lock(state_.mutex);
    return state_.state == ZOO_EXPIRED_SESSION_STATE || state_.state == ZOO_AUTH_FAILED_STATE;
  }

  void Close() {
    if (handle_ != nullptr) zookeeper_close(handle_);
    handle_ = nullptr;
    const std::scoped_lock lock(state_.mutex);
    state_.state = 0;
  }

  // A connection, of a new session if the old one expired.
  Status ConnectLocked() {
    if (handle_ != nullptr && IsExpired()) Close();
    if (handle_ == nullptr) {
      handle_ = zookeeper_init2(options_.connect.c_str(), &Watch,
                                static_cast<int>(options_.session_timeout.count()), nullptr,
                                &state_, 0, &DropLine);
      if (handle_ == nullptr) {
        return Error(Code::kUnavailable, "ZooKeeper " + options_.connect +
                                             ": the address cannot be used (is its name right?)");
      }
    }
    std::unique_lock lock(state_.mutex);
    const auto settled = [this] {
      return state_.state == ZOO_CONNECTED_STATE || state_.state == ZOO_EXPIRED_SESSION_STATE ||
             state_.state == ZOO_AUTH_FAILED_STATE;
    };
    state_.changed.wait_for(lock, options_.connection_timeout, settled);
    if (state_.state == ZOO_CONNECTED_STATE) return {};
    return Error(Code::kUnavailable, "ZooKeeper " + options_.connect + ": no connection within " +
                                         std::to_string(options_.connection_timeout.count()) +
                                         " ms");
  }

  // Only for calls that may run twice. The policy decides how often.
  template <typename Call>
  Result<int> Retried(Call call) {
    const Milliseconds start = clock_.Steady();
    for (int retry = 0;; ++retry) {
      const Status connected = ConnectLocked();
      const int rc = connected ? call() : ZCONNECTIONLOSS;
      if (!IsAwayCode(rc)) return rc;
      const auto pause = ZkRetrySleep(options_, retry, clock_.Steady() - start, random_);
      if (!pause) return connected ? Failure(rc, "no answer") : connected.error();
      clock_.SleepFor(*pause, {});
    }
  }

  Status CreateOne(const std::string& path, const std::string& data, int flags) {
    const auto create = [&](int mode) {
      return zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()),
                        &ZOO_OPEN_ACL_UNSAFE, mode, nullptr, 0);
    };
    IW_ASSIGN(int rc, Retried([&] { return create(flags); }));
    if (rc == ZUNIMPLEMENTED) {
      IW_ASSIGN(rc, Retried([&] { return create(ZOO_PERSISTENT); }));
    }
    if (rc == ZOK || rc == ZNODEEXISTS) return {};
    if (rc == ZNONODE) {
      return Error(Code::kNotFound, "ZooKeeper " + options_.connect +
                                        ": the folder at the end of the address does not exist");
    }
    if (rc == ZNOAUTH) {
      // It may be there, in a parent that others may not add to.
      Stat stat{};
      IW_ASSIGN(const int found,
                Retried([&] { return zoo_exists(handle_, path.c_str(), 0, &stat); }));
      if (found == ZOK) return {};
    }
    return Failure(rc, path);
  }

  const ZkOptions options_;
  Clock& clock_;
  Random random_;
  std::mutex mutex_;
  SessionState state_;
  zhandle_t* handle_ = nullptr;  // guarded by mutex_
};

}  // namespace

Result<std::shared_ptr<ZkClient>> ZkClient::Connect(const ZkOptions& options, Clock& clock) {
  IW_TRY(CheckZkOptions(options));
  auto client = std::make_shared<CZkClient>(options, clock);
  IW_TRY(client->Open());
  return client;
}

}  // namespace icewright
