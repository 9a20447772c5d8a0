#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/filesystem/filesystem_catalog.h"
#include "catalog/memory/memory_catalog.h"
#include "catalog/metadata_files.h"
#include "catalog/sql/sql_catalog.h"
#include "database/sql_url.h"

namespace icewright {
namespace {

enum class CatalogKind { kFilesystem, kSql, kMemory, kNotBuilt };

struct KindName {
  std::string_view name;
  CatalogKind kind;
};

// Values of `type` and of Flink's `catalog-type`.
constexpr KindName kTypes[] = {
    {"hadoop", CatalogKind::kFilesystem}, {"jdbc", CatalogKind::kSql},
    {"sql", CatalogKind::kSql},           {"in-memory", CatalogKind::kMemory},
    {"rest", CatalogKind::kNotBuilt},     {"hive", CatalogKind::kNotBuilt},
    {"glue", CatalogKind::kNotBuilt},     {"nessie", CatalogKind::kNotBuilt},
    {"dynamodb", CatalogKind::kNotBuilt}, {"bigquery", CatalogKind::kNotBuilt},
};

// Values of `catalog-impl` and of PyIceberg's `py-catalog-impl`.
constexpr KindName kClasses[] = {
    {"org.apache.iceberg.hadoop.HadoopCatalog", CatalogKind::kFilesystem},
    {"org.apache.iceberg.jdbc.JdbcCatalog", CatalogKind::kSql},
    {"pyiceberg.catalog.sql.SqlCatalog", CatalogKind::kSql},
    {"org.apache.iceberg.inmemory.InMemoryCatalog", CatalogKind::kMemory},
    {"org.apache.iceberg.rest.RESTCatalog", CatalogKind::kNotBuilt},
    {"org.apache.iceberg.hive.HiveCatalog", CatalogKind::kNotBuilt},
    {"org.apache.iceberg.aws.glue.GlueCatalog", CatalogKind::kNotBuilt},
    {"org.apache.iceberg.nessie.NessieCatalog", CatalogKind::kNotBuilt},
};

constexpr std::string_view kBuilt = "jdbc, sql, hadoop, in-memory";

const std::string* Find(const Properties& properties, const char* key) {
  const auto it = properties.find(key);
  return it == properties.end() || it->second.empty() ? nullptr : &it->second;
}

Result<CatalogKind> KindOf(std::string_view key, std::string_view value,
                           std::span<const KindName> known, bool any_case) {
  std::vector<std::string_view> names;
  for (const KindName& row : known) {
    if (row.name == (any_case ? ToLower(value) : std::string(value))) {
      if (row.kind != CatalogKind::kNotBuilt) return row.kind;
      return Error(Code::kUnsupported,
                   fmt::format("{} '{}' is not built in; there are {}", key, value, kBuilt));
    }
    names.push_back(row.name);
  }
  return Error(Code::kInvalidArgument, fmt::format("unknown {} '{}'{}; known are {}", key, value,
                                                   DidYouMean(value, names), kBuilt));
}

Result<CatalogKind> KindOf(const Properties& properties) {
  const std::string* type = Find(properties, "type");
  // In Flink's DDL, 'type'='iceberg' names the connector.
  if (type != nullptr && ToLower(*type) == "iceberg") type = nullptr;
  if (type == nullptr) type = Find(properties, "catalog-type");
  const std::string* class_name = Find(properties, "catalog-impl");
  if (class_name == nullptr) class_name = Find(properties, "py-catalog-impl");
  if (type != nullptr && class_name != nullptr) {
    return Error(Code::kInvalidArgument, "type and catalog-impl are both set; give one");
  }
  if (type != nullptr) return KindOf("type", *type, kTypes, true);
  if (class_name != nullptr) return KindOf("catalog-impl", *class_name, kClasses, false);
  // As PyIceberg, which needs no type where the URI tells.
  const std::string* uri = Find(properties, "uri");
  if (uri != nullptr && IsSqlUrl(*uri)) return CatalogKind::kSql;
  return Error(Code::kInvalidArgument, fmt::format("type is missing; known are {}", kBuilt));
}

}  // namespace

Result<std::shared_ptr<Catalog>> OpenCatalog(RunContext& run, std::string name,
                                             const Properties& properties,
                                             std::shared_ptr<FileIO> io) {
  IW_TRY(run.Check());
  const auto kind = KindOf(properties);
  if (!kind) return kind.error().Within("catalog " + name);
  const Location warehouse(StringProperty(properties, "warehouse", ""));
  switch (*kind) {
    case CatalogKind::kFilesystem:
      return MakeFilesystemCatalog(std::move(name), warehouse, std::move(io), properties);
    case CatalogKind::kSql:
      return MakeSqlCatalog(std::move(name), properties, std::move(io));
    case CatalogKind::kMemory:
      return MakeMemoryCatalog(std::move(name), warehouse, std::move(io), properties);
    case CatalogKind::kNotBuilt:
      break;
  }
  return Error(Code::kInternal, "no such kind of catalog");
}

}  // namespace icewright
