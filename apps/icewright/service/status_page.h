#pragma once

/// \file icewright/service/status_page.h
/// The page that `icewright run` serves: status_page.html, as it was when the program was built.

#include <string_view>

namespace icewright::cli {

extern const std::string_view kStatusPage;

}  // namespace icewright::cli
