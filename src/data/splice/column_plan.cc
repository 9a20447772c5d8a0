#include "data/splice/column_plan.h"

#include <algorithm>

#include "table/schema.h"

namespace icewright::splice {
namespace {

using From = ColumnPlan::From;

ColumnPlan Decode(std::string reason) {
  return {.from = From::kDecoded, .expected = Treatment::kDecode, .reason = std::move(reason)};
}

// The same nodes on the way down, except that a flat column may have become optional.
bool SameShape(const Leaf& file, const Leaf& out) {
  if (file.flat() && out.flat()) {
    return file.id() == out.id() &&
           (file.max_definition == out.max_definition ||
            (file.max_definition == 0 && out.max_definition == 1)) &&
           file.max_repetition == 0;
  }
  return file.nodes == out.nodes;
}

bool IsDecimal(const Leaf& leaf) { return leaf.meaning.kind == Meaning::Kind::kDecimal; }

// Unset: the values cannot be moved.
std::optional<Conversion> ConversionOf(const Leaf& file, const Leaf& out) {
  if (file.meaning.kind == Meaning::Kind::kOther) return {};
  const bool same_type = file.type == out.type && file.width == out.width;
  if (IsDecimal(out)) {
    if (!IsDecimal(file) || file.meaning.scale != out.meaning.scale ||
        file.meaning.precision > out.meaning.precision) {
      return {};
    }
    if (same_type) return Conversion::kNone;
    if (file.type == Physical::kInt32 && out.type == Physical::kInt64) {
      return Conversion::kIntToLong;
    }
    if (out.type != Physical::kFixed) return {};
    if (file.type == Physical::kInt32) return Conversion::kIntToFixed;
    if (file.type == Physical::kInt64) return Conversion::kLongToFixed;
    if (file.type == Physical::kFixed && file.width < out.width) return Conversion::kFixedToFixed;
    return {};
  }
  if (file.meaning.kind != out.meaning.kind) return {};
  if (same_type) return Conversion::kNone;
  if (out.meaning.kind != Meaning::Kind::kNone) return {};
  if (file.type == Physical::kInt32 && out.type == Physical::kInt64) return Conversion::kIntToLong;
  if (file.type == Physical::kFloat && out.type == Physical::kDouble) {
    return Conversion::kFloatToDouble;
  }
  return {};
}

// Encodings whose values can be taken one by one.
bool OnlyPlainOrDictionary(const Leaf& leaf, const ColumnChunk& chunk) {
  constexpr std::uint32_t kLevels = 1U << 3 | 1U << 4;
  constexpr std::uint32_t kSimple = kLevels | 1U << 0 | 1U << 2 | 1U << 8;
  return leaf.type != Physical::kBoolean && (chunk.encodings & ~kSimple) == 0;
}

// Does the manifest need more of the column than its footer says? Empty: no.
std::string LacksFacts(const OutputColumn& column, const Input& input, const Leaf& leaf,
                       const ColumnChunk& chunk) {
  if (!column.in_metrics || !column.mode.counts()) return {};
  const auto& nulls = chunk.statistics.null_count;
  if (leaf.max_definition > 0 && !nulls) return "no null count";
  if (!column.mode.bounds() || leaf.order == Order::kUndefined) return {};
  if (chunk.values == 0 || (leaf.max_definition > 0 && nulls == chunk.values)) return {};
  const Statistics& statistics = chunk.statistics;
  const bool usable = input.meta.type_defined_order && statistics.min && statistics.max &&
                      HasWidth(leaf, *statistics.min) && HasWidth(leaf, *statistics.max) &&
                      !IsNan(leaf.order, *statistics.min) && !IsNan(leaf.order, *statistics.max);
  return usable ? "" : "no statistics";
}

class Planner {
 public:
  Planner(const TableMetadata& metadata, const Layout& layout, const Input& input)
      : metadata_(metadata), layout_(layout), input_(input) {}

  ColumnPlan Plan(const OutputColumn& column) const {
    const Leaf* leaf = nullptr;
    bool root_present = false;
    int at = -1;
    for (std::size_t i = 0; i < input_.meta.leaves.size(); ++i) {
      const Leaf& candidate = input_.meta.leaves[i];
      root_present = root_present || candidate.nodes.front().id == column.leaf.nodes.front().id;
      if (candidate.id() != column.leaf.id() || !SameShape(candidate, column.leaf)) continue;
      if (leaf != nullptr) return Decode("a field id that occurs twice");
      leaf = &candidate;
      at = static_cast<int>(i);
    }
    const bool lineage =
        column.field.id == kRowIdField || column.field.id == kLastUpdatedSequenceNumberField;
    // Without a first row id nothing that the file stores counts.
    if (lineage && !input_.task->data_file.first_row_id) return Lineage(column);
    if (leaf == nullptr) {
      if (root_present) return Decode("another structure than the table's");
      return lineage ? Lineage(column) : Missing(column);
    }
    ColumnPlan plan = Chunks(column, *leaf, static_cast<std::size_t>(at));
    if (lineage && plan.from == From::kChunks && HasNulls(static_cast<std::size_t>(at))) {
      return Decode("inherited row lineage");
    }
    return plan;
  }

 private:
  bool HasNulls(std::size_t leaf) const {
    return std::any_of(
        input_.meta.groups.begin(), input_.meta.groups.end(), [&](const RowGroup& group) {
          return group.columns[leaf].statistics.null_count != std::optional<std::int64_t>(0);
        });
  }

  // Spec: "Row Lineage". A file without a first row id gets both columns with its commit.
  ColumnPlan Lineage(const OutputColumn& column) const {
    ColumnPlan plan{.from = From::kNulls, .expected = Treatment::kNull, .reason = "row lineage"};
    if (!input_.task->data_file.first_row_id) return plan;
    plan.expected = Treatment::kConstant;
    if (column.field.id == kRowIdField) {
      plan.from = From::kRowId;
    } else {
      plan.from = From::kConstant;
      plan.constant = Raw(input_.task->sequence_number);
    }
    return plan;
  }

  // Spec: "Column Projection": the partition's value, else the initial default, else null.
  ColumnPlan Missing(const OutputColumn& column) const {
    const Field& root = layout_.plan->schema.fields()[static_cast<std::size_t>(column.top_level)];
    if (root.type.is_nested()) return Decode("a nested column that the file does not have");
    Literal value;
    if (const Literal* constant = PartitionValue(root.id)) {
      value = *constant;
    } else if (root.initial_default) {
      value = *root.initial_default;
    }
    if (!IsNull(value)) {
      if (root.type.id() == TypeId::kBoolean) return Decode("a boolean default");
      return {.from = From::kConstant,
              .constant = std::move(value),
              .expected = Treatment::kConstant,
              .reason = "not in the file"};
    }
    if (root.required) return Decode("a required column that the file does not have");
    return {.from = From::kNulls, .expected = Treatment::kNull, .reason = "not in the file"};
  }

  const Literal* PartitionValue(FieldId id) const {
    const DataFile& file = input_.task->data_file;
    const PartitionSpec* spec = metadata_.FindSpec(file.spec_id);
    if (spec == nullptr) return nullptr;
    for (std::size_t i = 0; i < spec->fields.size() && i < file.partition.size(); ++i) {
      const PartitionField& field = spec->fields[i];
      if (field.transform.kind() == Transform::Kind::kIdentity && field.source_ids.size() == 1 &&
          field.source_id() == id) {
        return &file.partition[i];
      }
    }
    return nullptr;
  }

  ColumnPlan Chunks(const OutputColumn& column, const Leaf& leaf, std::size_t at) const {
    const auto conversion = ConversionOf(leaf, column.leaf);
    if (!conversion) return Decode("another type than the table's");
    ColumnPlan plan{.leaf = static_cast<int>(at), .conversion = *conversion};
    bool dictionary = false;
    bool transcode = leaf.max_definition < column.leaf.max_definition;
    for (std::size_t g = 0; g < input_.meta.groups.size(); ++g) {
      const ColumnChunk& chunk = input_.meta.groups[g].columns[at];
      if (auto reason = WhyNotMovable(leaf, chunk)) return Decode(std::move(*reason));
      if (std::string lacks = LacksFacts(column, input_, leaf, chunk); !lacks.empty()) {
        return Decode(std::move(lacks));
      }
      const bool dirty = g < input_.deleted.size() && !input_.deleted[g].empty();
      if ((dirty || *conversion != Conversion::kNone) && !OnlyPlainOrDictionary(leaf, chunk)) {
        return Decode(dirty ? "deleted rows in an encoding that must be decoded"
                            : "a promoted type in an encoding that must be decoded");
      }
      if (column.settings.bloom && !OnlyPlainOrDictionary(leaf, chunk)) {
        return Decode("a Bloom filter over an encoding that must be decoded");
      }
      constexpr std::uint32_t kDictionaries = 1U << 2 | 1U << 8;
      dictionary = dictionary || (chunk.encodings & kDictionaries) != 0;
      transcode = transcode || CodecOf(chunk.codec) != column.settings.codec;
    }
    if (*conversion != Conversion::kNone) {
      plan.expected = Treatment::kConvert;
      plan.reason = "a promoted type";
    } else if (dictionary) {
      plan.expected = Treatment::kRemap;
      plan.reason = "dictionaries become one";
    } else if (transcode) {
      plan.expected = Treatment::kTranscode;
      plan.reason = "another codec or optional";
    }
    return plan;
  }

  const TableMetadata& metadata_;
  const Layout& layout_;
  const Input& input_;
};

}  // namespace

std::vector<ColumnPlan> PlanColumns(const TableMetadata& metadata, const Layout& layout,
                                    const Input& input) {
  const Planner planner(metadata, layout, input);
  std::vector<ColumnPlan> out;
  out.reserve(layout.columns.size());
  for (const OutputColumn& column : layout.columns) out.push_back(planner.Plan(column));
  return out;
}

}  // namespace icewright::splice
