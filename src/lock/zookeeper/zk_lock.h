#pragma once

/// \file lock/zookeeper/zk_lock.h
/// Locks in ZooKeeper, in the nodes of Curator's SharedCount as Flink uses it.
///
/// Java twin: ZkLockFactory.

#include <memory>
#include <string>

#include "lock/lock.h"
#include "lock/zookeeper/zk_client.h"

namespace icewright {

/// Nodes /iceberg/flink/maintenance/locks/ID/task and .../recovery: 00000000 free, 00000001 held;
/// ours has the 16 bytes of the acquisition's UUID behind that. An ephemeral sibling names the
/// owner and lives as long as the session: the session is the lease, and options.lease is not
/// used but for 0. Errors: kInvalidArgument for an id that is no path; those of ZkClient.
Result<std::shared_ptr<LockFactory>> MakeZkLocks(std::shared_ptr<ZkClient> client,
                                                 const std::string& lock_id,
                                                 const LockOptions& options);

}  // namespace icewright
