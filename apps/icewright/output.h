#pragma once

/// \file icewright/output.h
/// Tables, CSV and JSON on the standard output.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_fwd.h"

namespace icewright::cli {

enum class OutputFormat { kText, kJson };

/// Collects rows and prints them with aligned columns; numbers to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void Print(std::ostream& out) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// One cell for a person: strings without quotes, null as "null", objects as JSON.
std::string CellText(const Json& value);

/// One CSV line (RFC 4180).
std::string CsvLine(const std::vector<std::string>& cells);

/// {"code": ..., "message": ..., "next": ...}
Json ErrorJson(const Error& error);

/// A line of pretty-printed JSON, ended by a newline.
void PrintJson(std::ostream& out, const Json& json);

}  // namespace icewright::cli
