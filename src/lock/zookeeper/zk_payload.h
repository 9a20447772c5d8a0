#pragma once

/// \file lock/zookeeper/zk_payload.h
/// The bytes of a lock's node.

#include <string>
#include <string_view>

#include "base/result.h"

namespace icewright {

/// Java reads the first four bytes as an int, 1 for held. Behind them icewright leaves the UUID of
/// the acquisition, and one more byte where the lock has no lease.
struct ZkPayload {
  bool held = false;
  std::string instance = {};  ///< 36 characters; empty where Java holds it.
  bool has_lease = false;

  std::string Encode() const;

  /// Errors: kCorrupt for fewer than four bytes, and another number than 0 and 1.
  static Result<ZkPayload> Decode(std::string_view bytes);
};

/// Errors: kInvalidArgument for an id that cannot be a path in ZooKeeper.
Status CheckZkLockId(std::string_view lock_id);

}  // namespace icewright
