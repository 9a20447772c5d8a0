#pragma once

/// \file base/location.h
/// Where a file is, exactly as table metadata spells it.

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace icewright {

/// An opaque spelling: never normalised, percent-decoded or re-encoded. Only a FileIO turns it into
/// a storage path. Two locations are the same file for us iff their texts are equal. Immutable.
class Location {
 public:
  Location() = default;
  explicit Location(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  /// What follows the last '/'.
  std::string_view file_name() const {
    return std::string_view(text_).substr(text_.rfind('/') + 1);
  }

  /// This location as a folder, plus '/' (unless it ends in one) and a relative path.
  Location Child(std::string_view relative) const {
    std::string text = text_;
    if (!text.ends_with('/')) text += '/';
    text += relative;
    return Location(std::move(text));
  }

  friend bool operator==(const Location&, const Location&) = default;
  friend auto operator<=>(const Location&, const Location&) = default;

 private:
  std::string text_;
};

}  // namespace icewright

template <>
struct std::hash<icewright::Location> {
  std::size_t operator()(const icewright::Location& location) const noexcept {
    return std::hash<std::string>{}(location.text());
  }
};
