#include "data/splice/group_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/executor.h"
#include "data/splice/column_plan.h"
#include "data/splice/decoded_input.h"
#include "table/literal.h"

namespace icewright::splice {
namespace {

constexpr double kMega = 1e6;

// MB of input per CPU second, from whole compactions beside decoding in the same run
// (docs/performance.md); where a treatment had no run of its own, a careful guess.
constexpr double kDecodeRate = 45;
double RateOf(Treatment treatment) {
  switch (treatment) {
    case Treatment::kVerbatim:
    case Treatment::kNull:
    case Treatment::kConstant:
    case Treatment::kPromote:
      return 500;
    case Treatment::kRemap:
      return 180;
    case Treatment::kJoin:
    case Treatment::kTranscode:
    case Treatment::kMaterialise:
    case Treatment::kConvert:
      return 100;
    case Treatment::kFilter:
      return 85;
    case Treatment::kDecode:
      break;
  }
  // Decoded and encoded, and moved as pages after that.
  return kDecodeRate * 0.75;
}

constexpr std::int64_t kWindow = 20'000;  // rows of a page, about
constexpr double kScattered = 0.5;        // deletes all over a file touch every page

// Finds out which part of a file's pages deletes touch.
void CountDirty(Input& input) {
  std::int64_t windows = 0;
  std::int64_t touched = 0;
  for (std::size_t g = 0; g < input.meta.groups.size(); ++g) {
    windows += (input.meta.groups[g].rows + kWindow - 1) / kWindow;
    std::int64_t next = 0;  // first window that no range was counted in
    for (const auto& [first, last] : input.deleted[g]) {
      const std::int64_t from = std::max(first / kWindow, next);
      const std::int64_t to = (last - 1) / kWindow + 1;
      touched += std::max<std::int64_t>(to - from, 0);
      next = std::max(next, to);
    }
  }
  input.windows = windows;
  input.dirty_share =
      static_cast<double>(touched) / static_cast<double>(std::max<std::int64_t>(windows, 1));
}

Status PlanDeletes(RunContext& run, const GroupRewriteSetup& setup, const Layout& layout,
                   Input& input) {
  if (input.task->deletes.empty() || input.decode_all) return {};
  IW_ASSIGN(input.deleted, DeletedRows(run, setup, input));
  const bool any = std::any_of(input.deleted.begin(), input.deleted.end(),
                               [](const RowRanges& ranges) { return !ranges.empty(); });
  if (!any) {
    input.deleted.clear();
    return {};
  }
  CountDirty(input);
  constexpr std::int64_t kFewWindows = 4;
  if (input.windows > kFewWindows && input.dirty_share > kScattered) {
    input.deleted.clear();
    DecodeAll(input, "deletes all over the file");
    return {};
  }
  input.columns = PlanColumns(*setup.metadata, layout, input);
  DecodeWholeColumns(layout, input);
  return {};
}

// Row groups that are too big for the output can only be split by rows.
void PlanSizes(const Layout& layout, const RewriteGroupRequest& request, Input& input) {
  const std::int64_t limit = std::min(layout.plan->row_group_bytes, request.roll_at_bytes) / 2 * 3;
  for (const RowGroup& group : input.meta.groups) {
    if (group.rows == 0) continue;  // its sizes may be any
    std::int64_t bytes = 0;
    for (const ColumnChunk& chunk : group.columns) bytes += chunk.compressed;
    if (bytes > limit) {
      DecodeAll(input, "a row group that is too big");
      return;
    }
  }
}

}  // namespace

std::optional<std::string> WhyDecodeGroup(const RewriteGroupRequest& request) {
  if (request.tasks.empty()) return "no file";
  const StructValueEqual same;
  for (const FileTask& task : request.tasks) {
    if (task.data_file.spec_id != request.output_spec_id ||
        !same(task.data_file.partition, request.tasks.front().data_file.partition)) {
      return "rows change their partition";
    }
  }
  return {};
}

Result<std::vector<Input>> PlanInputs(RunContext& run, const GroupRewriteSetup& setup,
                                      const Layout& layout, const RewriteGroupRequest& request) {
  std::vector<Input> inputs(request.tasks.size());
  IW_TRY(ParallelFor(run, inputs.size(), request.threads, [&](std::size_t i) -> Status {
    IW_ASSIGN(inputs[i], OpenInput(run, *setup.io, *setup.metadata, layout, request.tasks[i]));
    PlanSizes(layout, request, inputs[i]);
    return PlanDeletes(run, setup, layout, inputs[i]);
  }));
  return inputs;
}

double SpliceSeconds(const TreatmentBytes& bytes) {
  double seconds = 0;
  for (std::size_t t = 0; t < kTreatments; ++t) {
    seconds += static_cast<double>(bytes[t]) / kMega / RateOf(static_cast<Treatment>(t));
  }
  return seconds;
}

double DecodeSeconds(std::int64_t bytes) {
  return static_cast<double>(bytes) / kMega / kDecodeRate;
}

RewriteEstimate Describe(const Layout& layout, const std::vector<Input>& inputs) {
  RewriteEstimate out;
  std::map<std::string, std::int64_t> files_by_reason;
  for (const Input& input : inputs) {
    const TreatmentBytes bytes = ExpectedBytes(input);
    for (std::size_t t = 0; t < kTreatments; ++t) {
      if (bytes[t] > 0) {
        out.bytes_by_treatment[std::string(Name(static_cast<Treatment>(t)))] += bytes[t];
      }
    }
    if (input.decode_all) {
      ++files_by_reason["decode: " + input.decode_reason];
      continue;
    }
    if (!input.deleted.empty()) ++files_by_reason["filter: deleted rows"];
    for (std::size_t i = 0; i < input.columns.size(); ++i) {
      const ColumnPlan& plan = input.columns[i];
      if (plan.reason.empty()) continue;
      ++files_by_reason[fmt::format("{}: column {}: {}", Name(plan.expected),
                                    layout.columns[i].path, plan.reason)];
    }
  }
  for (const auto& [reason, files] : files_by_reason) {
    out.reasons.push_back(fmt::format("{} ({} file(s))", reason, files));
  }
  return out;
}

}  // namespace icewright::splice
