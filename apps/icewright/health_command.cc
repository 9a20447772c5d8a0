#include <fmt/format.h>

#include <ostream>

#include "codec/json.h"
#include "config/fields.h"
#include "config/units.h"
#include "icewright/command.h"
#include "maintain/health.h"

namespace icewright::cli {
namespace {

constexpr OptionField<HealthThresholds> kThresholds[] = {
    {"min-average-file-size-bytes", &HealthThresholds::average_file_bytes, "default: 32MiB",
     FieldUnit::kBytes},
    {"max-files-per-partition", &HealthThresholds::files_per_partition, "default: 100"},
    {"max-equality-delete-files-per-partition",
     &HealthThresholds::equality_delete_files_per_partition, "default: 10"},
    {"max-snapshots-per-hour", &HealthThresholds::snapshots_per_hour, "default: 60"},
    {"min-active-storage-ratio", &HealthThresholds::active_storage_ratio, "default: 0.85"},
    {"max-manifests", &HealthThresholds::manifests, "default: 100"},
    {"max-metadata-size-bytes", &HealthThresholds::metadata_bytes, "default: 8MiB",
     FieldUnit::kBytes},
};

std::string Figure(const HealthFinding& finding, double value) {
  if (finding.check.ends_with("bytes")) return FormatByteSize(static_cast<std::int64_t>(value));
  if (finding.check.ends_with("ratio")) return fmt::format("{:.1f}%", value * 100);
  return FormatCount(static_cast<std::int64_t>(value));
}

class HealthCommand final : public Command {
 public:
  std::string name() const override { return "health"; }
  std::string help() const override { return "What is wrong with a table, and what repairs it"; }

  void Define(CLI::App& app) override {
    app.add_option("table", table_, "catalog.namespace.table, or a path")->required();
    for (const auto& field : kThresholds) {
      app.add_option_function<std::string>(
          "--" + std::string(field.key),
          [this, &field](const std::string& text) {
            if (Status set = SetField(field, text, thresholds_); !set && !bad_value_) {
              bad_value_ = set.error();
            }
          },
          std::string(field.help));
    }
  }

  Result<ExitCode> Execute(Session& session) override {
    if (bad_value_) return *bad_value_;
    IW_ASSIGN(const Table table, session.LoadTable(table_));
    IW_ASSIGN(const auto findings, CheckHealth(session.run(), table, thresholds_));
    if (session.json()) {
      Json rows = Json::array();
      for (const HealthFinding& f : findings) {
        rows.push_back({{"check", f.check},
                        {"value", f.value},
                        {"threshold", f.threshold},
                        {"finding", f.is_finding},
                        {"detail", f.detail},
                        {"repair", f.repair.empty() ? Json() : Json(f.repair)}});
      }
      PrintJson(session.out(), rows);
      return ExitCode::kOk;
    }
    TextTable text({"check", "value", "threshold", "state", "detail", "repair"});
    for (const HealthFinding& f : findings) {
      text.AddRow({f.check, Figure(f, f.value), Figure(f, f.threshold), f.is_finding ? "BAD" : "ok",
                   f.detail, f.repair});
    }
    text.Print(session.out());
    return ExitCode::kOk;
  }

 private:
  std::string table_;
  HealthThresholds thresholds_;
  std::optional<Error> bad_value_;
};

}  // namespace

void AddHealthCommand(Commands& commands) { commands.push_back(std::make_unique<HealthCommand>()); }

}  // namespace icewright::cli
