#pragma once

/// \file io/line_reader.h
/// Lines of a text file, one at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "io/file_io.h"

namespace icewright {

/// Lines end with '\n', which is left out. Single-threaded.
class LineReader {
 public:
  LineReader(std::unique_ptr<InputFile> file, std::size_t max_line_bytes)
      : file_(std::move(file)),
        source_(std::make_unique<InputFileSource>(*file_)),
        max_line_bytes_(max_line_bytes) {}

  /// The next line; false at the end. Errors: kCorrupt, naming file and line: the line is too long;
  /// those of the file.
  Result<bool> Next(std::string& line);

  /// Number of the line read last, from 1.
  std::int64_t number() const { return number_; }

  /// False if the file ended within the line read last.
  bool is_whole() const { return is_whole_; }

  /// kCorrupt: "FILE: line N: what".
  Error Corrupt(std::string_view what) const;

 private:
  std::unique_ptr<InputFile> file_;
  std::unique_ptr<InputFileSource> source_;
  std::size_t max_line_bytes_;
  Bytes buffer_;
  std::size_t position_ = 0;
  std::int64_t number_ = 0;
  bool is_whole_ = true;
};

}  // namespace icewright
