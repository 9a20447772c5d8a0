#include "icewright/output.h"

#include <algorithm>
#include <ostream>

#include "codec/json.h"

namespace icewright::cli {
namespace {

// Columns as a terminal counts them: one per code point.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,.-%") == std::string_view::npos;
}

// Control characters would break the table, and may come from anyone's data.
std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\x";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

}  // namespace

void TextTable::Print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const std::string& column : columns_) widths.push_back(WidthOf(column));
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      line.push_back(i < row.size() ? Printable(row[i]) : std::string());
      widths[i] = std::max(widths[i], WidthOf(line[i]));
    }
  }
  const auto print_line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - WidthOf(cells[i]), ' ');
      text += IsNumber(cells[i]) ? padding + cells[i] : cells[i] + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  print_line(columns_);
  for (const auto& line : lines) print_line(line);
}

std::string CellText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return DumpJson(value);
}

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) {
      line += c;
      if (c == '"') line += c;
    }
    line += '"';
  }
  return line;
}

Json ErrorJson(const Error& error) {
  return {
      {"code", Name(error.code())}, {"message", error.message()}, {"next", NextStep(error.code())}};
}

void PrintJson(std::ostream& out, const Json& json) { out << DumpJson(json, 2) << '\n'; }

}  // namespace icewright::cli
