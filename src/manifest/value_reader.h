#pragma once

/// \file manifest/value_reader.h
/// Turns the Avro schema of one column into a function that reads its values.

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec/avro/coding.h"
#include "codec/avro/schema.h"
#include "manifest/columns.h"

namespace icewright::manifest_internal {

/// A block of records and the first thing that was wrong with one.
struct Input {
  avro::Decoder decoder;
  std::optional<Error> error = {};

  void Reject(Error why) {
    if (!error) error = std::move(why);
    decoder.Fail();
  }
};

template <typename T>
using ValueReader = std::function<void(Input&, T&)>;

/// What some columns need beside their own schema.
struct ReadContext {
  std::string_view column;  ///< For messages.
  int key_id = 0;
  int value_id = 0;
  const ValueReader<StructValue>* partition = nullptr;
  const ValueReader<DataFile>* file = nullptr;
};

/// A value that may be null: where null is in the writer's union, and the schema of the rest.
struct Nullable {
  int null_index = -1;                  ///< -1: never null.
  const avro::Schema* value = nullptr;  ///< Null: always null, no bytes.

  /// Errors: kUnsupported for a union of other types.
  static Result<Nullable> Of(const avro::Schema& schema, std::string_view column);

  /// True if a value follows.
  bool ReadPresence(Input& in) const {
    if (value == nullptr) return false;
    if (null_index < 0) return true;
    const std::int64_t branch = in.decoder.ReadLong();
    if (branch != 0 && branch != 1) in.decoder.Fail();
    return branch != null_index && in.decoder.ok();
  }
};

Error WrongKind(const ReadContext& context, std::string_view expected);
bool IsInteger(const avro::Schema& schema);
bool IsText(const avro::Schema& schema);  ///< string, bytes or fixed
ByteView ReadText(Input& in, const avro::Schema& schema);
void ReadFormat(Input& in, const avro::Schema& schema, FileFormat& out);

/// Passes over one value; fast for the metric columns.
std::function<void(Input&)> CompileSkip(const avro::Schema& schema);

/// More columns or row groups than any real file has; bounds what a forged count can allocate.
inline constexpr std::int64_t kMaxItems = 1 << 20;

/// Calls `item` for each item of an array, until the input fails.
template <typename Item>
void ReadItems(Input& in, Item&& item) {
  std::int64_t total = 0;
  for (std::int64_t n = in.decoder.ReadBlockCount(); n > 0; n = in.decoder.ReadBlockCount()) {
    if (n > kMaxItems || (total += n) > kMaxItems) in.decoder.Fail();
    for (; n > 0 && in.decoder.ok(); --n) item();
    if (!in.decoder.ok()) return;
  }
}

Result<ValueReader<ColumnCounts>> CompileCounts(const avro::Schema& schema, const ReadContext& c);
Result<ValueReader<ColumnBounds>> CompileBounds(const avro::Schema& schema, const ReadContext& c);
Result<ValueReader<std::vector<PartitionFieldSummary>>> CompileSummaries(const avro::Schema& schema,
                                                                         const ReadContext& c);

template <typename T>
struct NumberOf {
  using type = T;
};
template <typename T>
requires std::is_enum_v<T>
struct NumberOf<T> {
  using type = std::underlying_type_t<T>;
};

/// Largest valid number of an enumeration or integer column.
template <typename T>
constexpr std::int64_t MaxOf() {
  if constexpr (std::is_same_v<T, FileContent> || std::is_same_v<T, EntryStatus>) return 2;
  if constexpr (std::is_same_v<T, ManifestContent>) return 1;
  return std::numeric_limits<typename NumberOf<T>::type>::max();
}

template <typename T>
void ReadInteger(Input& in, T& out) {
  const std::int64_t value = in.decoder.ReadLong();
  if (value > MaxOf<T>() || value < std::numeric_limits<typename NumberOf<T>::type>::min()) {
    in.decoder.Fail();
    return;
  }
  out = static_cast<T>(value);
}

template <typename T>
struct IsOptionalType : std::false_type {};
template <typename T>
struct IsOptionalType<std::optional<T>> : std::true_type {};

template <typename T>
concept IntegerList =
    std::is_same_v<T, std::vector<std::int64_t>> || std::is_same_v<T, std::vector<FieldId>>;

/// Errors: kCorrupt if the writer's type cannot become a T.
template <typename T>
Result<ValueReader<T>> CompileValue(const avro::Schema& schema, const ReadContext& context) {
  const avro::Schema* s = &schema;
  if constexpr (std::is_same_v<T, StructValue>) {
    return *context.partition;
  } else if constexpr (std::is_same_v<T, DataFile>) {
    return *context.file;
  } else if constexpr (IsOptionalType<T>::value) {
    IW_ASSIGN(auto inner, CompileValue<typename T::value_type>(schema, context));
    return ValueReader<T>([inner](Input& in, T& out) {
      if (!out) out.emplace();
      inner(in, *out);
    });
  } else if constexpr (std::is_same_v<T, ColumnCounts>) {
    return CompileCounts(schema, context);
  } else if constexpr (std::is_same_v<T, ColumnBounds>) {
    return CompileBounds(schema, context);
  } else if constexpr (std::is_same_v<T, std::vector<PartitionFieldSummary>>) {
    return CompileSummaries(schema, context);
  } else if constexpr (IntegerList<T>) {
    if (s->kind != avro::Kind::kArray || !IsInteger(*s->items)) {
      return WrongKind(context, "an array of integers");
    }
    return ValueReader<T>([](Input& in, T& out) {
      out.clear();
      ReadItems(in, [&] { ReadInteger(in, out.emplace_back()); });
    });
  } else if constexpr (std::is_same_v<T, bool>) {
    if (s->kind != avro::Kind::kBoolean) return WrongKind(context, "a boolean");
    return ValueReader<T>([](Input& in, T& out) { out = in.decoder.ReadBoolean(); });
  } else if constexpr (std::is_same_v<T, FileFormat>) {
    if (!IsText(*s)) return WrongKind(context, "a string");
    return ValueReader<T>([s](Input& in, T& out) { ReadFormat(in, *s, out); });
  } else if constexpr (std::is_same_v<T, Location> || std::is_same_v<T, Bytes>) {
    if (!IsText(*s)) return WrongKind(context, "a string");
    return ValueReader<T>([s](Input& in, T& out) { out = T(std::string(ReadText(in, *s))); });
  } else {
    if (!IsInteger(*s)) return WrongKind(context, "an integer");
    return ValueReader<T>([](Input& in, T& out) { ReadInteger(in, out); });
  }
}

}  // namespace icewright::manifest_internal
