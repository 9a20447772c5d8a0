#pragma once

/// \file icewright/progress_line.h
/// Progress of a run on the standard error: repainted on a terminal, one line per phase elsewhere.

#include <iosfwd>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/run_context.h"

namespace icewright::cli {

/// Prints until destroyed. Borrows stream and progress.
class ProgressLine {
 public:
  ProgressLine(std::ostream& err, bool is_terminal, const Progress& progress);
  ~ProgressLine();

  /// "rewrite  [#####-----]  120 / 400 files": what a terminal shows.
  static std::string Paint(const Progress::View& view);

 private:
  void Tick();
  std::ostream& err_;
  const bool is_terminal_;
  const Progress& progress_;
  std::string last_phase_;
  std::unique_ptr<Ticker> ticker_;  // last: stops before the rest goes
};

}  // namespace icewright::cli
