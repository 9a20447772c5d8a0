#include "icewright/table_loader.h"

#include <utility>

#include "io/local_file_io.h"

namespace icewright {

TableLoader TableLoader::FromCatalog(std::string catalog_name, Properties properties,
                                     TableIdentifier id) {
  TableLoader loader;
  loader.catalog_name_ = std::move(catalog_name);
  loader.properties_ = std::move(properties);
  loader.id_ = std::move(id);
  return loader;
}

TableLoader TableLoader::FromHadoopTable(std::string location) {
  TableLoader loader;
  loader.location_ = std::move(location);
  return loader;
}

Result<Table> TableLoader::Load(RunContext& run) const {
  auto io = MakeLocalFileIO();
  if (!location_.empty()) return OpenTableAt(run, Location(location_), std::move(io));
  IW_ASSIGN(const auto catalog, OpenCatalog(run, catalog_name_, properties_, std::move(io)));
  return catalog->LoadTable(run, id_);
}

}  // namespace icewright
