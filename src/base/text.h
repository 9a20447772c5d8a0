#pragma once

/// \file base/text.h
/// Small text functions that messages are made with.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace icewright {

/// ASCII only.
std::string ToLower(std::string_view text);

/// The candidate with the smallest edit distance to `name`, if it is close enough to be a slip of
/// the keyboard (a third of its length, at least 2); case does not count. Unset: nothing is close.
std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string_view> candidates);

/// "; did you mean 'x'?" or nothing: the tail of messages about unknown names.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace icewright
