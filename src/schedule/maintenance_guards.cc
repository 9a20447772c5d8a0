#include "schedule/maintenance_guards.h"

#include <fmt/format.h>

#include "base/text.h"

namespace icewright {

bool IsS3Tables(const Properties& catalog) {
  const auto value = [&](const std::string& key) {
    const auto found = catalog.find(key);
    return found == catalog.end() ? std::string() : ToLower(found->second);
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string warehouse = value("warehouse");
  return has(value("catalog-impl"), "s3tables") ||
         (warehouse.starts_with("arn:") && has(warehouse, ":s3tables:")) ||
         has(warehouse, ":s3tablescatalog/") || value("rest.signing-name") == "s3tables" ||
         value("signing-name") == "s3tables";
}

Status CheckGuards(const Properties& catalog, const GuardAnswers& answers, std::string_view task) {
  if (IsS3Tables(catalog)) {
    if (task == "expire-snapshots" && answers.service_expiry_disabled) return {};
    return Error(Code::kUnsupported,
                 fmt::format("{} is refused: S3 Tables maintains its tables itself; only "
                             "expire-snapshots may run, after its expiry was switched off there "
                             "and service-expiry-disabled: true is set here",
                             task));
  }
  if (answers.glue_compaction && task == "rewrite-data-files") {
    return Error(Code::kUnsupported,
                 fmt::format("{} is refused: Glue compacts this table; switch that off there and "
                             "remove glue-compaction, or remove the task",
                             task));
  }
  return {};
}

}  // namespace icewright
