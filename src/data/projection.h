#pragma once

/// \file data/projection.h
/// From a file's columns to the columns a reader asked for: by field id at every level, with
/// promotion, and with values for what the file does not have.
///
/// Spec: "Column Projection", "Default values".

#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/array_cast.h"
#include "data/source_file.h"
#include "table/field.h"

namespace icewright {

/// Values of identity-partitioned columns, by source field: what rows of a file have in a column
/// that the file leaves out.
using PartitionConstants = std::map<FieldId, Literal>;

/// Two steps around SourceFile::Select: first Mark says which parts of the file are needed, then
/// Make builds the conversion from what the file selected. Immutable; applies to any number of
/// batches.
class Projection {
 public:
  /// Marks in `source` what the wanted columns need. A nested column of which no part is in the
  /// file keeps one leaf, which tells where its parent is null.
  static void Mark(const std::vector<Field>& wanted, std::vector<SourceField>& source);

  /// Precondition: Mark with the same columns, then SourceFile::Select. A column that is missing
  /// from the file gets its partition constant, else its initial default, else null. Lists and maps
  /// match by structure. Errors: kUnsupported, naming the column, where the file's type cannot
  /// become the wanted one.
  static Result<Projection> Make(const std::vector<Field>& wanted,
                                 const std::vector<SourceField>& source,
                                 const PartitionConstants& constants);

  /// Column `i` of the wanted ones. Cost: none for a column that is in the file as it is wanted.
  Result<std::shared_ptr<arrow::Array>> Convert(std::size_t i, const SourceBatch& batch,
                                                arrow::MemoryPool* pool) const;

  /// Same as Convert for any column whose value is the same in all rows.
  bool IsConstant(std::size_t i) const { return columns_[i].source < 0; }
  Result<std::shared_ptr<arrow::Array>> Constant(std::size_t i, std::int64_t rows,
                                                 arrow::MemoryPool* pool) const;

 private:
  struct Node {
    std::string name;
    Type type;
    std::shared_ptr<arrow::DataType> arrow_type;
    int source = -1;  // among the selected children of the source's parent; -1: constant
    Literal constant;
    bool as_it_is = false;  // equal types all the way down: hand the array through
    ArrayCast cast;         // leaves
    std::vector<Node> children;
  };

  static Result<Node> MakeNode(const Field& field, const std::vector<SourceField>& siblings,
                               const SourceField* source, const PartitionConstants& constants);
  static Result<std::vector<Node>> MakeChildren(const Field& field, const SourceField& source,
                                                const PartitionConstants& constants);
  static Result<std::shared_ptr<arrow::ArrayData>> Apply(const Node& node,
                                                         const arrow::ArrayData& in,
                                                         arrow::MemoryPool* pool);
  static Result<std::shared_ptr<arrow::ArrayData>> ApplyNested(const Node& node,
                                                               const arrow::ArrayData& in,
                                                               arrow::MemoryPool* pool);
  std::vector<Node> columns_;
};

}  // namespace icewright
