#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "data/group_rewrite.h"
#include "data/rewrite_engine.h"

namespace icewright {
namespace {

class DecodingEngine final : public RewriteEngine {
 public:
  explicit DecodingEngine(GroupRewriteSetup setup) : setup_(std::move(setup)) {}

  Result<RewrittenGroup> Rewrite(RunContext& run, const RewriteGroupRequest& request) override {
    GroupRewrite group(setup_, request, next_group_.fetch_add(1, std::memory_order_relaxed));
    auto result = group.Execute(run);
    if (result) return result;
    // Closed files are nobody's; open ones were removed with their writers.
    const std::vector<Location> written = group.WrittenFiles();
    const std::vector<DeleteFailure> left = setup_.io->DeleteFiles(written);
    if (left.empty()) return result.error();
    std::string message = result.error().message() + "; left behind:";
    for (const DeleteFailure& failure : left) message += " " + failure.location.text();
    return Error(result.error().code(), std::move(message));
  }

 private:
  GroupRewriteSetup setup_;
  std::atomic<std::int64_t> next_group_{0};
};

}  // namespace

Result<std::unique_ptr<RewriteEngine>> MakeDecodingEngine(
    std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    std::string operation_id) {
  IW_ASSIGN(GroupRewriteSetup setup,
            MakeGroupRewriteSetup(std::move(metadata), std::move(io), std::move(operation_id)));
  return std::make_unique<DecodingEngine>(std::move(setup));
}

}  // namespace icewright
