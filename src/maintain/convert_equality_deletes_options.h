#pragma once

/// \file maintain/convert_equality_deletes_options.h
/// Options of the conversion of equality deletes, and the rows that spell them.
///
/// Java twin: Flink's ConvertEqualityDeletes.Builder.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "config/fields.h"
#include "table/metadata.h"

namespace icewright {

/// Every member but the key columns has a default.
struct ConvertEqualityDeletesOptions {
  /// Where the writer commits. Unset: the target branch itself, in place.
  std::optional<std::string> staging_branch = {};
  std::string target_branch = std::string(kMainBranch);
  /// "id,cat": the columns of every equality delete of the writer. Nested ones with dots.
  std::string equality_field_columns = {};
  /// Convert at most this many staging snapshots, the oldest first. Range: >= 1. Unset: all.
  std::optional<std::int64_t> max_staging_snapshots = {};
  /// The last staging snapshot that is on the target already, where the run cannot find out.
  std::optional<std::int64_t> resume_from = {};
  /// How deletes are resolved: "stateless" (scan the key columns), "indexed" (look keys up in the
  /// index below index_path) or "auto" (what costs less; without an index_path a scan).
  std::string resolve = "auto";
  /// Folder on the local disk that keeps an index of keys from run to run. Unset: none.
  std::optional<std::string> index_path = {};
  /// Report what waits; write nothing.
  bool dry_run = false;
};

std::span<const OptionField<ConvertEqualityDeletesOptions>> ConvertEqualityDeletesFields();

enum class ResolveMode : std::uint8_t { kAuto, kStateless, kIndexed };

/// Options checked against a table.
struct ConvertSettings {
  std::string staging;
  std::string target;
  std::vector<FieldId> key = {};  ///< Sorted.
  std::optional<std::int64_t> max_snapshots = {};
  std::optional<SnapshotId> resume_from = {};
  ResolveMode resolve = ResolveMode::kAuto;
  std::string index_path = {};  ///< Empty: no index.

  bool in_place() const { return staging == target; }
};

/// Errors: kInvalidArgument (a missing or unknown column, a bound, a branch that does not exist or
/// is a tag), kUnsupported (format version below 3, a key column that is a float or double or not
/// primitive); the message names option and value.
Result<ConvertSettings> ResolveConvertOptions(const ConvertEqualityDeletesOptions& options,
                                              const TableMetadata& metadata);

}  // namespace icewright
