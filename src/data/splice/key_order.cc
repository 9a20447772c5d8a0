#include "data/splice/key_order.h"

#include <arrow/record_batch.h>

#include <algorithm>
#include <functional>
#include <string>

#include "data/arrow_bridge.h"
#include "data/sort_key.h"
#include "table/literal.h"

namespace icewright::splice {
namespace {

// A file by what the manifest says of its first key.
struct Ranged {
  const FileTask* task = nullptr;
  std::optional<Literal> lower, upper;
};

std::optional<Literal> BoundOf(const Type& type, const ColumnBounds& bounds, FieldId id) {
  const Bytes* bytes = FindColumn(bounds, id);
  if (bytes == nullptr) return {};
  auto literal = FromBytes(type, *bytes);
  return literal ? std::optional(std::move(*literal)) : std::nullopt;
}

// Bounds of these may be cut off.
bool IsText(const Type& type) {
  return type.id() == TypeId::kString || type.id() == TypeId::kBinary;
}

// By the bounds of the first key; as they come where it has none. Unset: the ranges overlap.
std::optional<std::vector<FileTask>> ByBounds(const Schema& schema,
                                              const RewriteGroupRequest& request) {
  const SortField& first = request.sort_order->fields.front();
  const Field* field = schema.Find(first.source_id());
  const bool comparable = field != nullptr && !field->type.is_nested() &&
                          first.transform.kind() == Transform::Kind::kIdentity;
  std::vector<Ranged> files;
  for (const FileTask& task : request.tasks) {
    Ranged& file = files.emplace_back(Ranged{&task, {}, {}});
    if (!comparable) continue;
    file.lower = BoundOf(field->type, task.data_file.lower_bounds, field->id);
    file.upper = BoundOf(field->type, task.data_file.upper_bounds, field->id);
  }
  const bool bounded = std::all_of(files.begin(), files.end(), [](const Ranged& file) {
    return file.lower.has_value() && file.upper.has_value();
  });
  if (bounded) {
    const bool ascending = first.direction == SortField::Direction::kAsc;
    std::stable_sort(files.begin(), files.end(), [&](const Ranged& a, const Ranged& b) {
      const auto order = Compare(field->type, *a.lower, *b.lower);
      return ascending ? order < 0 : order > 0;
    });
    for (std::size_t i = 1; i < files.size() && !IsText(field->type); ++i) {
      const Ranged& low = files[ascending ? i - 1 : i];
      const Ranged& high = files[ascending ? i : i - 1];
      if (Compare(field->type, *low.upper, *high.lower) > 0) return {};
    }
  }
  std::vector<FileTask> out;
  for (const Ranged& file : files) out.push_back(*file.task);
  return out;
}

bool Holds(const Field& field, FieldId id) {
  if (field.id == id) return true;
  return field.type.is_nested() &&
         std::any_of(field.type.fields().begin(), field.type.fields().end(),
                     [&](const Field& child) { return Holds(child, id); });
}

// The top-level columns that have keys.
Schema KeyColumns(const Schema& schema, const std::vector<SortField>& keys) {
  std::vector<Field> out;
  for (const Field& field : schema.fields()) {
    const bool wanted = std::any_of(keys.begin(), keys.end(), [&](const SortField& key) {
      return std::any_of(key.source_ids.begin(), key.source_ids.end(),
                         [&](FieldId id) { return Holds(field, id); });
    });
    if (wanted) out.push_back(field);
  }
  return Schema(std::move(out), schema.id());
}

// Are all rows in order? Deleted ones count, too: what is left of a sorted file is sorted.
Result<bool> AreSorted(RunContext& run, const GroupRewriteSetup& setup,
                       const std::vector<SortField>& keys, const std::vector<FileTask>& tasks) {
  const Schema columns = KeyColumns(setup.read_plan->projection, keys);
  IW_ASSIGN(const SortKey key, SortKey::Make(columns, keys));
  IW_ASSIGN(const auto plan, MakeReadPlan(setup.metadata, columns));
  const auto pool = MakePool(run);
  std::string last;
  for (const FileTask& task : tasks) {
    FileTask whole = task;
    whole.deletes.clear();
    IW_ASSIGN(const auto reader, OpenTask(run, plan, setup.io, nullptr, whole, pool));
    for (;;) {
      IW_TRY(run.Check());
      IW_ASSIGN(const auto batch, reader->Next(run));
      if (batch == nullptr) break;
      IW_ASSIGN(const SortKeys sorted, key.Encode(*batch));
      for (std::size_t row = 0; row + 1 < sorted.offsets.size(); ++row) {
        const std::string_view before = row == 0 ? std::string_view(last) : sorted.key(row - 1);
        if (sorted.key(row) < before) return false;
      }
      if (batch->num_rows() > 0) last = sorted.key(sorted.offsets.size() - 2);
    }
  }
  return true;
}

}  // namespace

Result<std::optional<std::vector<FileTask>>> InKeyOrder(RunContext& run,
                                                        const GroupRewriteSetup& setup,
                                                        const RewriteGroupRequest& request,
                                                        bool prove) {
  auto tasks = ByBounds(setup.read_plan->projection, request);
  if (!tasks || !prove) return tasks;
  IW_ASSIGN(const bool sorted, AreSorted(run, setup, request.sort_order->fields, *tasks));
  if (!sorted) tasks.reset();
  return tasks;
}

}  // namespace icewright::splice
