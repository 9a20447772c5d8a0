#pragma once

/// \file data/splice/layout.h
/// What the outputs of an operation have in common: schema, settings and metadata, as the decoding
/// path would write them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/run_context.h"
#include "data/file_writer.h"
#include "data/splice/chunk_writer.h"
#include "data/splice/format.h"

namespace icewright::splice {

struct OutputColumn {
  Leaf leaf;                ///< of the output; views point into Layout::footer
  Field field;              ///< Iceberg's
  std::string path;         ///< for people: "a.list.element"
  int top_level = 0;        ///< index of the column in the schema
  bool in_metrics = false;  ///< the manifest counts it: not inside a list or map
  MetricsMode mode = {};
  ChunkSettings settings = {};
};

/// Immutable.
struct Layout {
  std::shared_ptr<const WritePlan> plan;
  Bytes footer;   ///< of a file without rows, as the decoding path writes it
  FileMeta meta;  ///< its parts; views point into `footer`
  std::vector<OutputColumn> columns;
};

/// Unset `layout`: `reason` says why outputs of this table cannot be spliced.
struct LayoutChoice {
  std::shared_ptr<const Layout> layout;
  std::string reason;
};

/// Errors: those of the decoding path's writer.
Result<LayoutChoice> MakeLayout(RunContext& run, std::shared_ptr<const WritePlan> plan);

}  // namespace icewright::splice
