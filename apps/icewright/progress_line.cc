#include "icewright/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "config/units.h"

namespace icewright::cli {
namespace {

constexpr Milliseconds kInterval{100};
constexpr std::int64_t kBarWidth = 30;

}  // namespace

ProgressLine::ProgressLine(std::ostream& err, bool is_terminal, const Progress& progress)
    : err_(err),
      is_terminal_(is_terminal),
      progress_(progress),
      ticker_(std::make_unique<Ticker>(kInterval, [this] { Tick(); })) {}

ProgressLine::~ProgressLine() {
  ticker_.reset();
  if (is_terminal_) {
    err_ << "\r\033[K" << std::flush;
  } else {
    Tick();
  }
}

std::string ProgressLine::Paint(const Progress::View& view) {
  if (!view.total) return fmt::format("{}  {} {}", view.phase, FormatCount(view.done), view.unit);
  const std::int64_t total = std::max<std::int64_t>(*view.total, 1);
  const std::int64_t filled = std::clamp<std::int64_t>(view.done * kBarWidth / total, 0, kBarWidth);
  return fmt::format("{}  [{:#<{}}{:-<{}}]  {} / {} {}", view.phase, "", filled, "",
                     kBarWidth - filled, FormatCount(view.done), FormatCount(*view.total),
                     view.unit);
}

void ProgressLine::Tick() {
  const Progress::View view = progress_.Read();
  if (view.phase.empty()) return;
  if (is_terminal_) {
    err_ << '\r' << Paint(view) << "\033[K" << std::flush;
  } else if (view.phase != last_phase_) {
    last_phase_ = view.phase;
    err_ << view.phase;
    if (view.total) err_ << ' ' << FormatCount(*view.total) << ' ' << view.unit;
    err_ << '\n' << std::flush;
  }
}

}  // namespace icewright::cli
