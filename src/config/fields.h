#pragma once

/// \file config/fields.h
/// One row per option, kept beside the options struct. The CLI flag, the YAML key, the SQL
/// argument,
/// --help and the docs table are all loops over these rows.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace icewright {

/// How the text of a number is read.
enum class FieldUnit : std::uint8_t { kNone, kBytes, kDuration };

/// One option. Members of type std::int64_t with unit kDuration hold milliseconds.
template <typename Options>
struct OptionField {
  using Member =
      std::variant<bool Options::*, int Options::*, std::int64_t Options::*, double Options::*,
                   std::string Options::*, std::optional<int> Options::*,
                   std::optional<std::int64_t> Options::*, std::optional<std::string> Options::*>;

  std::string_view key;  ///< Iceberg's name in kebab case.
  Member member;
  std::string_view help;
  FieldUnit unit = FieldUnit::kNone;
};

Status ParseField(std::string_view text, FieldUnit unit, bool& out);
Status ParseField(std::string_view text, FieldUnit unit, int& out);
Status ParseField(std::string_view text, FieldUnit unit, std::int64_t& out);
Status ParseField(std::string_view text, FieldUnit unit, double& out);
Status ParseField(std::string_view text, FieldUnit unit, std::string& out);

template <typename T>
Status ParseField(std::string_view text, FieldUnit unit, std::optional<T>& out) {
  T value{};
  IW_TRY(ParseField(text, unit, value));
  out = std::move(value);
  return {};
}

/// Tells a flag (no argument) from an option with a value.
template <typename Options>
bool IsFlag(const OptionField<Options>& field) {
  return std::holds_alternative<bool Options::*>(field.member);
}

/// Errors: kInvalidArgument for text that does not parse, prefixed by the key.
template <typename Options>
Status SetField(const OptionField<Options>& field, std::string_view text, Options& options) {
  return std::visit([&](auto member) { return ParseField(text, field.unit, options.*member); },
                    field.member)
      .Within(field.key);
}

/// "no option named 'x'; did you mean 'y'?"
Error UnknownKey(std::string_view key, std::span<const std::string_view> known);

/// Errors: kInvalidArgument for an unknown key (names the nearest) or a bad value.
template <typename Options>
Status SetField(std::span<const OptionField<Options>> fields, std::string_view key,
                std::string_view text, Options& options) {
  std::vector<std::string_view> known;
  for (const OptionField<Options>& field : fields) {
    if (field.key == key) return SetField(field, text, options);
    known.push_back(field.key);
  }
  return UnknownKey(key, known);
}

}  // namespace icewright
