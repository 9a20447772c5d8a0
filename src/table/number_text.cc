#include "table/number_text.h"

#include <algorithm>
#include <charconv>

#include "table/literal.h"

namespace icewright {
namespace {

constexpr int kMaxDecimalDigits = 38;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Int128 PowerOfTen(int exponent) {
  Int128 result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

/// Splits "e5" off a number; unset if what follows the e is no small integer.
std::optional<int> TakeExponent(std::string_view& text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string_view::npos) return 0;
  std::string_view digits = text.substr(e + 1);
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  int exponent = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, exponent);
  if (digits.empty() || rest != end || error != std::errc() || exponent > 1000 ||
      exponent < -1000) {
    return std::nullopt;
  }
  text = text.substr(0, e);
  return exponent;
}

}  // namespace

std::optional<Int128> ParseDecimal(std::string_view text, int scale) {
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const auto exponent = TakeExponent(text);
  if (!exponent) return std::nullopt;

  std::string digits;
  const std::size_t point = std::min(text.find('.'), text.size());
  digits.append(text.substr(0, point));
  if (point < text.size()) digits.append(text.substr(point + 1));
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;

  // The value is digits * 10^shift in units of the scale.
  const int decimals = point < text.size() ? static_cast<int>(text.size() - point - 1) : 0;
  int shift = scale + *exponent - decimals;
  while (shift < 0 && !digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++shift;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Int128{0};
  if (shift < 0 || static_cast<int>(digits.size()) + shift > kMaxDecimalDigits) {
    return std::nullopt;
  }
  Int128 value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  value *= PowerOfTen(shift);
  return negative ? -value : value;
}

bool FitsPrecision(Int128 unscaled, int precision) {
  const Int128 limit = PowerOfTen(std::min(precision, kMaxDecimalDigits));
  return unscaled < limit && unscaled > -limit;
}

std::string DecimalText(Int128 unscaled, int scale) {
  UInt128 rest =
      unscaled < 0 ? UInt128{0} - static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled);
  std::string reversed;
  for (int place = 0; rest != 0 || place <= scale; ++place) {
    if (place == scale && scale > 0) reversed.push_back('.');
    reversed.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  }
  if (unscaled < 0) reversed.push_back('-');
  return {reversed.rbegin(), reversed.rend()};
}

std::string UuidText(ByteView bytes) {
  std::string text = ToHex(bytes);
  for (const std::size_t dash : {8, 13, 18, 23}) text.insert(dash, 1, '-');
  return text;
}

std::optional<Bytes> ParseUuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string hex;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if ((text[i] == '-') != dash) return std::nullopt;
    if (!dash) hex.push_back(text[i]);
  }
  auto bytes = FromHex(hex);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

std::string Base64(ByteView bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= count ? kAlphabet[(group >> (18 - 6 * k)) & 63U] : '=');
    }
  }
  return out;
}

}  // namespace icewright
