#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/guarded.h"
#include "data/group_rewrite.h"
#include "data/rewrite_engine.h"

namespace icewright {
namespace {

class DecodingEngine final : public RewriteEngine {
 public:
  explicit DecodingEngine(GroupRewriteSetup setup) : setup_(std::move(setup)) {}

  Result<RewrittenGroup> Rewrite(RunContext& run, const RewriteGroupRequest& request) override {
    return RewriteByDecoding(run, setup_, request,
                             next_group_.fetch_add(1, std::memory_order_relaxed));
  }

  Result<RewriteEstimate> Estimate(RunContext&, const RewriteGroupRequest& request) override {
    RewriteEstimate out;
    std::int64_t& bytes = out.bytes_by_treatment["decode"];
    for (const FileTask& task : request.tasks) bytes += task.data_file.file_size_in_bytes;
    return out;
  }

 private:
  GroupRewriteSetup setup_;
  std::atomic<std::int64_t> next_group_{0};
};

}  // namespace

Error DeleteAfter(const Error& error, FileIO& io, const std::vector<Location>& written) {
  const std::vector<DeleteFailure> left = io.DeleteFiles(written);
  if (left.empty()) return error;
  std::string message = error.message() + "; left behind:";
  for (const DeleteFailure& failure : left) message += " " + failure.location.text();
  return Error(error.code(), std::move(message));
}

Result<RewrittenGroup> RewriteByDecoding(RunContext& run, const GroupRewriteSetup& setup,
                                         const RewriteGroupRequest& request,
                                         std::int64_t group_id) {
  GroupRewrite group(setup, request, group_id);
  auto result = Guarded([&] { return group.Execute(run); });
  if (result) return result;
  // Closed files are nobody's; open ones were removed with their writers.
  return DeleteAfter(result.error(), *setup.io, group.WrittenFiles());
}

Result<std::unique_ptr<RewriteEngine>> MakeDecodingEngine(
    std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<FileIO> io,
    std::string operation_id) {
  IW_ASSIGN(GroupRewriteSetup setup,
            MakeGroupRewriteSetup(std::move(metadata), std::move(io), std::move(operation_id)));
  return std::make_unique<DecodingEngine>(std::move(setup));
}

}  // namespace icewright
