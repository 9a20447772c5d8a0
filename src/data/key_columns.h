#pragma once

/// \file data/key_columns.h
/// The columns of an equality delete, and rows of them as comparable keys.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "table/metadata.h"

namespace icewright {

/// Which columns make a key. Immutable.
class KeyColumns {
 public:
  /// Fields by id, in the current schema or, if dropped there, in the newest schema that has them.
  /// Errors: kCorrupt for an unknown id or no id; kUnsupported for a field in a list or map or one
  /// that is no primitive.
  static Result<KeyColumns> Make(const TableMetadata& metadata, std::vector<FieldId> ids);

  /// Top-level columns that hold the fields, with nothing else inside.
  const std::vector<Field>& fields() const { return fields_; }

  /// The field of the key, if it is one.
  struct Single {
    FieldId id{};
    TypeId type{};
  };
  std::optional<Single> single() const {
    if (leaves_.size() != 1) return {};
    return Single{.id = leaves_[0].id, .type = leaves_[0].type.id()};
  }

  /// One column that is an integer inside: no bytes need be built.
  bool is_single_integer() const { return leaves_.size() == 1 && IsInteger(leaves_[0].type.id()); }

 private:
  friend class KeyRows;
  struct Leaf {
    FieldId id{};
    std::vector<int> path;  // column, then children
    Type type;
  };
  static bool IsInteger(TypeId id);
  std::vector<Field> fields_;
  std::vector<Leaf> leaves_;
};

/// The keys of one batch. Null is equal to null; floats are equal by bits with one NaN, as in Java.
/// Borrows the arrays.
class KeyRows {
 public:
  /// `columns`: arrays of KeyColumns::fields(), in their order.
  KeyRows(const KeyColumns& keys, const std::vector<std::shared_ptr<arrow::Array>>& columns);

  /// Precondition: is_single_integer().
  bool IsNull(std::int64_t row) const { return views_[0].IsNull(row); }
  std::int64_t Integer(std::int64_t row) const {
    const View& view = views_[0];
    return view.width == 8 ? LoadLittle<std::int64_t>(view.values + (view.offset + row) * 8)
                           : LoadLittle<std::int32_t>(view.values + (view.offset + row) * 4);
  }

  /// Appends the key of a row. Equal keys, and only they, have equal bytes.
  void Encode(std::int64_t row, Bytes& out) const;

 private:
  enum class Kind : std::uint8_t { kFixed, kBoolean, kFloat, kDouble, kBytes, kAbsent };
  struct Validity {
    const std::uint8_t* bits;
    std::int64_t offset;
  };
  struct View {
    Kind kind = Kind::kFixed;
    std::int64_t width = 0;
    std::int64_t offset = 0;
    const char* values = nullptr;  // kBytes: the bytes that offsets point into
    const std::int32_t* offsets = nullptr;
    std::vector<Validity> validity;  // of the leaf and of the structs around it
    bool IsNull(std::int64_t row) const;
  };
  static View MakeView(const KeyColumns::Leaf& leaf, const arrow::ArrayData& column);
  std::vector<View> views_;
};

}  // namespace icewright
