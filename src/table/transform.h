#pragma once

/// \file table/transform.h
/// Partition transforms: parse, apply, result type, text of a partition value.
///
/// Spec: "Partition Transforms", "Appendix B: 32-bit Hash Requirements".   Java twin: Transforms.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "table/literal.h"
#include "table/type.h"

namespace icewright {

/// Immutable value.
class Transform {
 public:
  enum class Kind : std::uint8_t {
    kIdentity,
    kBucket,
    kTruncate,
    kYear,
    kMonth,
    kDay,
    kHour,
    kVoid,
    kUnknown,  ///< Written by a newer engine: kept, shown, never applied.
  };

  Transform() = default;  // identity

  /// "identity", "bucket[16]", "truncate[4]", "day" ... Anything else is kUnknown.
  static Transform Parse(std::string_view text);
  static Transform Bucket(int n);
  static Transform Truncate(int width);
  static Transform Of(Kind kind);

  Kind kind() const { return kind_; }
  int parameter() const { return parameter_; }
  const std::string& text() const { return text_; }

  /// True if a sort by the source value is a sort by the result.
  bool preserves_order() const;

  /// Type of the result for a source type (bucket: int; year, month, hour: int; day: date).
  Type ResultType(const Type& source) const;

  /// True if the transform takes this source type.
  bool CanTransform(const Type& source) const;

  /// Null in, null out. Errors: kUnsupported for kUnknown, kInvalidArgument for a source type that
  /// the transform does not take.
  Result<Literal> Apply(const Type& source, const Literal& value) const;

  /// What a partition path and Java's toHumanString show: "2024-03-09", "null", base64 of binary.
  std::string ToHuman(const Type& source, const Literal& result) const;

  friend bool operator==(const Transform& a, const Transform& b) { return a.text_ == b.text_; }

 private:
  Kind kind_ = Kind::kIdentity;
  int parameter_ = 0;
  std::string text_ = "identity";
};

}  // namespace icewright
