#include "lock/zookeeper/zk_payload.h"

#include <algorithm>

#include "base/bytes.h"

namespace icewright {
namespace {

constexpr std::string_view kFree{"\0\0\0\0", 4};
constexpr std::string_view kHeld{"\0\0\0\1", 4};
constexpr std::size_t kIdBytes = 16;
constexpr char kNoLease = 'n';

}  // namespace

std::string ZkPayload::Encode() const {
  if (!held) return std::string(kFree);  // Java compares whole arrays: exactly these bytes
  std::string bytes(kHeld);
  if (instance.empty()) return bytes;
  std::string digits;
  for (const char c : instance) {
    if (c != '-') digits += c;
  }
  if (const auto id = FromHex(digits)) bytes += *id;
  if (!has_lease) bytes += kNoLease;
  return bytes;
}

Result<ZkPayload> ZkPayload::Decode(std::string_view bytes) {
  const std::string_view count = bytes.substr(0, kFree.size());
  if (count == kFree) return ZkPayload{};
  if (count != kHeld) {
    return Error(Code::kCorrupt, "its first four bytes are neither 0 nor 1: it is no lock");
  }
  ZkPayload payload{.held = true};
  const std::string_view rest = bytes.substr(kHeld.size());
  if (rest.size() < kIdBytes) return payload;
  std::string& id = payload.instance;
  for (std::size_t i = 0; i < kIdBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += ToHex(rest.substr(i, 1));
  }
  payload.has_lease = rest.size() == kIdBytes;
  return payload;
}

Status CheckZkLockId(std::string_view lock_id) {
  bool is_path = true;
  for (std::size_t start = 0; start <= lock_id.size();) {
    const std::size_t end = std::min(lock_id.find('/', start), lock_id.size());
    const std::string_view level = lock_id.substr(start, end - start);
    if (level.empty() || level == "." || level == "..") is_path = false;
    start = end + 1;
  }
  for (std::size_t i = 0; i < lock_id.size(); ++i) {
    const auto byte = static_cast<unsigned char>(lock_id[i]);
    if (byte < 0x20 || byte == 0x7f) is_path = false;
    const bool c1 =
        byte == 0xc2 && i + 1 < lock_id.size() && static_cast<unsigned char>(lock_id[i + 1]) < 0xa0;
    if (c1) is_path = false;
  }
  if (is_path) return {};
  return Error(Code::kInvalidArgument, "lock id '" + std::string(lock_id) +
                                           "' cannot be a path in ZooKeeper: set "
                                           "flink-maintenance.lock.lock-id");
}

}  // namespace icewright
