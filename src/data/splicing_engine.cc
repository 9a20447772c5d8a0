#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/guarded.h"
#include "data/group_rewrite.h"
#include "data/rewrite_engine.h"
#include "data/splice/group_plan.h"
#include "data/splice/group_splice.h"
#include "data/splice/key_order.h"
#include "data/splice/verify.h"

namespace icewright {
namespace {

using splice::Input;
using splice::Layout;
using splice::LayoutChoice;
using splice::TreatmentBytes;

class SplicingEngine final : public RewriteEngine {
 public:
  SplicingEngine(GroupRewriteSetup setup, EngineChoice choice)
      : setup_(std::move(setup)), choice_(choice) {}

  Result<RewrittenGroup> Rewrite(RunContext& run, const RewriteGroupRequest& request) override {
    const std::int64_t group_id = next_group_.fetch_add(1, std::memory_order_relaxed);
    IW_ASSIGN(Plan plan, MakePlan(run, request, true));
    if (plan.layout == nullptr) return Decode(run, request, group_id, plan.reason);
    splice::GroupSplice group(setup_, plan.layout, *plan.request, group_id);
    auto result = Guarded([&] { return group.Execute(run, std::move(plan.inputs)); });
    if (result && request.verify_values) {
      const auto same =
          Guarded([&] { return splice::VerifyGroup(run, setup_, *plan.request, result->added); });
      if (!same) {
        std::vector<Location> written;
        for (const DataFile& file : result->added) written.push_back(file.file_path);
        return DeleteAfter(same.error(), *setup_.io, written);
      }
    }
    if (result) return result;
    const Error error = DeleteAfter(result.error(), *setup_.io, group.WrittenFiles());
    if (error.code() != Code::kUnsupported) return error;
    return Decode(run, request, group_id, error.message());
  }

  Result<RewriteEstimate> Estimate(RunContext& run, const RewriteGroupRequest& request) override {
    IW_ASSIGN(const Plan plan, MakePlan(run, request, false));
    if (plan.layout != nullptr) return splice::Describe(*plan.layout, plan.inputs);
    RewriteEstimate out;
    out.bytes_by_treatment["decode"] = BytesOf(request);
    out.reasons.push_back("decode: " + plan.reason);
    return out;
  }

 private:
  // Without a layout the group is decoded, for this reason.
  struct Plan {
    std::shared_ptr<const Layout> layout;
    std::unique_ptr<RewriteGroupRequest> request;  // with the tasks in the order of the output
    std::vector<Input> inputs;                     // of its tasks
    std::string reason;
  };

  static std::int64_t BytesOf(const RewriteGroupRequest& request) {
    return std::accumulate(request.tasks.begin(), request.tasks.end(), std::int64_t{0},
                           [](std::int64_t sum, const FileTask& task) {
                             return sum + task.data_file.file_size_in_bytes;
                           });
  }

  // `prove`: where rows are to be sorted, read the keys.
  Result<Plan> MakePlan(RunContext& run, const RewriteGroupRequest& request, bool prove) {
    Plan plan;
    if (auto why = splice::WhyDecodeGroup(request)) {
      plan.reason = std::move(*why);
      return plan;
    }
    IW_ASSIGN(const LayoutChoice layout, LayoutOnce(run));
    if (layout.layout == nullptr) {
      plan.reason = layout.reason;
      return plan;
    }
    plan.request = std::make_unique<RewriteGroupRequest>(request);
    if (request.sort_order && !request.sort_order->fields.empty()) {
      IW_ASSIGN(auto tasks, splice::InKeyOrder(run, setup_, request, prove));
      if (!tasks) {
        plan.reason = "rows are sorted, and files overlap";
        return plan;
      }
      plan.request->tasks = std::move(*tasks);
    }
    IW_ASSIGN(plan.inputs, splice::PlanInputs(run, setup_, *layout.layout, *plan.request));
    const bool all_decoded = std::all_of(plan.inputs.begin(), plan.inputs.end(),
                                         [](const Input& input) { return input.decode_all; });
    if (all_decoded) {
      plan.reason = plan.inputs.front().decode_reason;
      plan.inputs.clear();
      return plan;
    }
    if (choice_ == EngineChoice::kAuto && !IsWorthIt(plan.inputs, request)) {
      plan.inputs.clear();
      plan.reason = "decoding is estimated to cost less";
      return plan;
    }
    plan.layout = layout.layout;
    return plan;
  }

  static bool IsWorthIt(const std::vector<Input>& inputs, const RewriteGroupRequest& request) {
    TreatmentBytes sum = {};
    for (const Input& input : inputs) {
      const TreatmentBytes bytes = splice::ExpectedBytes(input);
      for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += bytes[t];
    }
    constexpr double kMargin = 0.9;  // estimates are that good, about
    return splice::SpliceSeconds(sum) < kMargin * splice::DecodeSeconds(BytesOf(request));
  }

  Result<LayoutChoice> LayoutOnce(RunContext& run) {
    const std::scoped_lock lock(mutex_);
    if (!layout_) {
      IW_ASSIGN(layout_, splice::MakeLayout(run, setup_.write_plan));
    }
    return *layout_;
  }

  Result<RewrittenGroup> Decode(RunContext& run, const RewriteGroupRequest& request,
                                std::int64_t group_id, const std::string& reason) {
    IW_ASSIGN(RewrittenGroup group, RewriteByDecoding(run, setup_, request, group_id));
    group.notes.push_back("decoded: " + reason);
    group.bytes_by_treatment["decode"] = group.bytes_read;
    return group;
  }

  const GroupRewriteSetup setup_;
  const EngineChoice choice_;
  std::atomic<std::int64_t> next_group_{0};
  std::mutex mutex_;
  std::optional<LayoutChoice> layout_;  // guarded by mutex_
};

}  // namespace

Result<EngineChoice> ParseEngineChoice(std::string_view text) {
  if (text == "auto") return EngineChoice::kAuto;
  if (text == "splice") return EngineChoice::kSplice;
  if (text == "decode") return EngineChoice::kDecode;
  return Error(Code::kInvalidArgument,
               fmt::format("engine '{}' is none of auto, splice, decode", text));
}

Result<std::unique_ptr<RewriteEngine>> MakeEngine(EngineChoice choice,
                                                  std::shared_ptr<const TableMetadata> metadata,
                                                  std::shared_ptr<FileIO> io,
                                                  std::string operation_id) {
  if (choice == EngineChoice::kDecode) {
    return MakeDecodingEngine(std::move(metadata), std::move(io), std::move(operation_id));
  }
  IW_ASSIGN(GroupRewriteSetup setup,
            MakeGroupRewriteSetup(std::move(metadata), std::move(io), std::move(operation_id)));
  return std::make_unique<SplicingEngine>(std::move(setup), choice);
}

}  // namespace icewright
