#include "icewright/snapshot_options.h"

#include <charconv>

#include "table/literal.h"

namespace icewright::cli {
namespace {

// "2024-01-31", "2024-01-31T10:00:00Z", or milliseconds since 1970.
Result<TimePoint> ParseTime(const std::string& text) {
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error == std::errc() && end == text.data() + text.size()) return FromMillis(ms);
  std::string with_zone = text;
  if (with_zone.find('T') == std::string::npos) with_zone += "T00:00:00";
  if (!with_zone.ends_with('Z') && with_zone.find('+') == std::string::npos) with_zone += "+00:00";
  const auto micros = LiteralFromText(Type::Of(TypeId::kTimestampTz), with_zone);
  if (!micros) return micros.error().Within("--as-of");
  return FromMillis(std::get<std::int64_t>(*micros) / 1000);
}

}  // namespace

void SnapshotOptions::Define(CLI::App& app) {
  app.add_option("--snapshot", snapshot_, "snapshot id");
  app.add_option("--as-of", as_of_,
                 "newest snapshot at a time: 2024-01-31T10:00:00Z, or ms since 1970");
  app.add_option("--branch", branch_, "head of a branch");
  app.add_option("--tag", tag_, "snapshot of a tag");
}

Result<SnapshotSelector> SnapshotOptions::Selector() const {
  SnapshotSelector selector{.branch = branch_, .tag = tag_};
  if (snapshot_) selector.snapshot_id = SnapshotId{*snapshot_};
  if (as_of_) {
    IW_ASSIGN(selector.as_of, ParseTime(*as_of_));
  }
  return selector;
}

}  // namespace icewright::cli
