#pragma once

/// \file lock/zookeeper/zk_client.h
/// The few calls to ZooKeeper that locks need. Hides the C client.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "lock/lock.h"
#include "lock/zookeeper/zk_options.h"

namespace icewright {

struct ZkNode {
  std::string data;
  std::int32_t version = 0;
  TimePoint created;               ///< By the server's clock.
  std::int64_t owner_session = 0;  ///< Of an ephemeral node.
};

/// A part of a transaction.
struct ZkOp {
  enum class Kind : std::uint8_t { kCreateEphemeral, kSet, kCheck, kDelete };
  Kind kind;
  std::string path;
  std::string data = {};
  std::int32_t version = -1;  ///< Of kSet, kCheck and kDelete; -1: any.
};

/// One session; a new one replaces one that expired. Thread-safe; one call at a time is under way.
///
/// Errors of all calls: kUnavailable: no connection, after the retries of the policy; kDenied; kIo.
class ZkClient {
 public:
  /// Errors: also kInvalidArgument. Waits up to connection_timeout.
  static Result<std::shared_ptr<ZkClient>> Connect(const ZkOptions& options, Clock& clock);

  virtual ~ZkClient() = default;

  /// Unset: no such node.
  virtual Result<std::optional<ZkNode>> Get(const std::string& path) = 0;

  /// Makes a persistent node if it is missing; missing parents become containers with no data.
  virtual Status Create(const std::string& path, const std::string& data) = 0;

  /// All or nothing, sent once. Errors: kConflict: another version, a node that is there or is not;
  /// kCommitUnknown: the connection broke after it was sent.
  virtual Status Transact(std::span<const ZkOp> ops) = 0;

  /// Changes when a session is replaced: its ephemeral nodes are gone then.
  virtual std::int64_t session() = 0;

  /// What the server agreed to.
  virtual Milliseconds session_timeout() = 0;
};

}  // namespace icewright
