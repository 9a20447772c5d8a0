#include "maintain/convert_equality_deletes_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace icewright {
namespace {

using Options = ConvertEqualityDeletesOptions;

constexpr OptionField<Options> kFields[] = {
    {"staging-branch", &Options::staging_branch,
     "where the writer commits; default: the target branch itself (in place)"},
    {"target-branch", &Options::target_branch, "where the result goes; default: main"},
    {"equality-field-columns", &Options::equality_field_columns,
     "key columns of the writer's equality deletes: id,cat"},
    {"max-staging-snapshots", &Options::max_staging_snapshots,
     "convert at most this many snapshots, oldest first; default: all"},
    {"resume-from", &Options::resume_from,
     "staging snapshot that was promoted last, if the table does not tell any more"},
    {"resolve", &Options::resolve,
     "stateless (scan key columns), indexed (needs index-path) or auto"},
    {"index-path", &Options::index_path,
     "local folder that keeps an index of keys from run to run; default: none"},
    {"dry-run", &Options::dry_run, "show what waits, change nothing"},
};

Error Invalid(std::string message) { return Error(Code::kInvalidArgument, std::move(message)); }

Status CheckBranch(const TableMetadata& metadata, std::string_view option,
                   const std::string& branch) {
  const auto ref = metadata.refs.find(branch);
  if (ref == metadata.refs.end()) {
    // Main of a table without a snapshot has no ref yet.
    if (branch == kMainBranch) return {};
    return Invalid(fmt::format("{}: the table has no branch '{}'", option, branch));
  }
  if (ref->second.kind == SnapshotRef::Kind::kTag) {
    return Invalid(fmt::format("{}: '{}' is a tag, not a branch", option, branch));
  }
  return {};
}

Status CheckKeyField(const Field& field, std::string_view name) {
  const TypeId type = field.type.id();
  if (!field.type.is_primitive()) {
    return Error(Code::kUnsupported,
                 fmt::format("equality-field-columns: '{}' is no primitive column", name));
  }
  if (type == TypeId::kFloat || type == TypeId::kDouble) {
    return Error(Code::kUnsupported,
                 fmt::format("equality-field-columns: '{}' is a floating-point column, which the "
                             "format allows in no key (NaN, -0.0); choose other columns",
                             name));
  }
  return {};
}

Result<std::vector<FieldId>> ParseKey(const std::string& text, const Schema& schema) {
  std::vector<FieldId> key;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const Field* field = schema.Find(name);
    if (field == nullptr) {
      return Invalid(fmt::format("equality-field-columns: the table has no column '{}'", name));
    }
    IW_TRY(CheckKeyField(*field, name));
    key.push_back(field->id);
  }
  if (key.empty()) {
    return Invalid(
        "equality-field-columns is not set: name the key columns of the writer, such as id,cat");
  }
  std::ranges::sort(key);
  const auto same = std::ranges::adjacent_find(key);
  if (same != key.end()) {
    return Invalid(fmt::format("equality-field-columns names '{}' twice", schema.NameOf(*same)));
  }
  return key;
}

Status ResolveWay(const Options& options, ConvertSettings& settings) {
  settings.index_path = options.index_path.value_or("");
  if (options.resolve == "stateless") {
    settings.resolve = ResolveMode::kStateless;
  } else if (options.resolve == "indexed") {
    settings.resolve = ResolveMode::kIndexed;
    if (settings.index_path.empty()) {
      return Invalid("resolve is indexed: set index-path to a folder for the index");
    }
  } else if (options.resolve != "auto") {
    return Invalid(
        fmt::format("resolve: '{}' is none of auto, stateless, indexed", options.resolve));
  }
  return {};
}

}  // namespace

std::span<const OptionField<ConvertEqualityDeletesOptions>> ConvertEqualityDeletesFields() {
  return kFields;
}

Result<ConvertSettings> ResolveConvertOptions(const ConvertEqualityDeletesOptions& options,
                                              const TableMetadata& metadata) {
  if (options.max_staging_snapshots.value_or(1) < 1) {
    return Invalid(fmt::format("max-staging-snapshots is set to {} but must be >= 1",
                               *options.max_staging_snapshots));
  }
  if (metadata.format_version < 3) {
    return Error(Code::kUnsupported,
                 fmt::format("equality deletes become deletion vectors, which need format version "
                             "3; the table has {}",
                             metadata.format_version));
  }
  ConvertSettings settings{.staging = options.staging_branch.value_or(options.target_branch),
                           .target = options.target_branch,
                           .max_snapshots = options.max_staging_snapshots};
  IW_TRY(ResolveWay(options, settings));
  IW_TRY(CheckBranch(metadata, "target-branch", settings.target));
  IW_TRY(CheckBranch(metadata, "staging-branch", settings.staging));
  IW_ASSIGN(settings.key, ParseKey(options.equality_field_columns, metadata.schema()));
  if (options.resume_from) {
    if (settings.in_place()) {
      return Invalid("resume-from needs a staging-branch: in place nothing is promoted");
    }
    settings.resume_from = SnapshotId(*options.resume_from);
  }
  return settings;
}

}  // namespace icewright
