#include "config/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace icewright {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr Unit kByteUnits[] = {
    {"", 1},           {"b", 1},           {"k", 1LL << 10},
    {"kb", 1LL << 10}, {"kib", 1LL << 10}, {"m", 1LL << 20},
    {"mb", 1LL << 20}, {"mib", 1LL << 20}, {"g", 1LL << 30},
    {"gb", 1LL << 30}, {"gib", 1LL << 30}, {"t", 1LL << 40},
    {"tb", 1LL << 40}, {"tib", 1LL << 40},
};

constexpr Unit kTimeUnits[] = {
    {"ms", 1},           {"s", 1000},         {"sec", 1000},        {"second", 1000},
    {"seconds", 1000},   {"m", 60'000},       {"min", 60'000},      {"minute", 60'000},
    {"minutes", 60'000}, {"h", 3'600'000},    {"hour", 3'600'000},  {"hours", 3'600'000},
    {"d", 86'400'000},   {"day", 86'400'000}, {"days", 86'400'000},
};

std::string_view TakeSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

struct Quantity {
  double value = 0;
  std::string unit;
};

/// Reads "<number> <letters>" from the front of `rest`.
bool TakeQuantity(std::string_view& rest, Quantity& out) {
  rest = TakeSpaces(rest);
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), out.value, std::chars_format::fixed);
  if (error != std::errc() || out.value < 0) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  rest = TakeSpaces(rest);
  std::size_t letters = 0;
  while (letters < rest.size() && std::isalpha(static_cast<unsigned char>(rest[letters])) != 0) {
    ++letters;
  }
  out.unit = ToLower(rest.substr(0, letters));
  rest.remove_prefix(letters);
  return true;
}

bool Scale(const Quantity& quantity, std::span<const Unit> units, std::int64_t& out) {
  for (const Unit& unit : units) {
    if (unit.name != quantity.unit) continue;
    const double scaled = std::round(quantity.value * static_cast<double>(unit.factor));
    if (scaled >= static_cast<double>(std::numeric_limits<std::int64_t>::max())) return false;
    out = static_cast<std::int64_t>(scaled);
    return true;
  }
  return false;
}

}  // namespace

Result<std::int64_t> ParseByteSize(std::string_view text) {
  // Whole numbers stay exact: a double would lose digits of very large ones.
  std::int64_t exact = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc() && end == text.data() + text.size() && exact >= 0) return exact;
  Quantity quantity;
  std::string_view rest = text;
  std::int64_t bytes = 0;
  if (TakeQuantity(rest, quantity) && TakeSpaces(rest).empty() &&
      Scale(quantity, kByteUnits, bytes)) {
    return bytes;
  }
  return Error(Code::kInvalidArgument,
               fmt::format("'{}' is no size; write it like 1048576, 512MiB or 1.5GiB", text));
}

Result<Milliseconds> ParseDuration(std::string_view text) {
  const Error wrong(
      Code::kInvalidArgument,
      fmt::format("'{}' is no duration; write it like 500ms, 30s, 5min, 2h or 7d", text));
  std::string_view rest = text;
  // ISO 8601, as Java's Duration prints it: P1DT2H, PT72H.
  const bool iso = rest.starts_with('P') || rest.starts_with('p');
  std::string joined;
  if (iso) {
    for (const char c : rest.substr(1)) {
      if (c != 'T' && c != 't') joined += c;
    }
    rest = joined;
  }
  std::int64_t total = 0;
  bool any = false;
  while (!TakeSpaces(rest).empty()) {
    Quantity quantity;
    std::int64_t part = 0;
    if (!TakeQuantity(rest, quantity) || !Scale(quantity, kTimeUnits, part)) return wrong;
    if (part > std::numeric_limits<std::int64_t>::max() - total) return wrong;
    total += part;
    any = true;
  }
  if (!any) return wrong;
  return Milliseconds(total);
}

std::string FormatByteSize(std::int64_t bytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kNames[unit]);
}

std::string FormatDuration(Milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  const std::int64_t s = ms / 1000;
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {} h", s / 86'400, s / 3600 % 24);
}

std::string FormatCount(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::ptrdiff_t first = count < 0 ? 1 : 0;
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace icewright
