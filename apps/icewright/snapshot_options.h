#pragma once

/// \file icewright/snapshot_options.h
/// The options that choose a snapshot: --snapshot, --as-of, --branch, --tag.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "scan/plan_files.h"

namespace icewright::cli {

class SnapshotOptions {
 public:
  void Define(CLI::App& app);

  /// Errors: kInvalidArgument for a time that is none.
  Result<SnapshotSelector> Selector() const;

 private:
  std::optional<std::int64_t> snapshot_;
  std::optional<std::string> as_of_;
  std::optional<std::string> branch_;
  std::optional<std::string> tag_;
};

}  // namespace icewright::cli
