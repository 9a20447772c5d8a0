#include "maintain/stored_key_places.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace icewright {
namespace {

constexpr char kLibrary[] = "icewright_key_index.so";

/// Beside the program, or in the lib folder of a distribution.
Result<void*> LoadLibrary() {
  std::error_code failed;
  const auto home = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  std::string why;
  for (const auto& path : {home / kLibrary, home / ".." / "lib" / kLibrary}) {
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why += fmt::format("{}{}", why.empty() ? "" : "; ", ::dlerror());
  }
  return Error(Code::kUnsupported, "index-path: the library of the index cannot be loaded: " + why);
}

}  // namespace

Result<OpenedKeyPlaces> OpenStoredKeyPlaces(RunContext& run, const ConvertSettings& settings,
                                            const TableMetadata& metadata,
                                            const std::string& layout, bool rebuild) {
  static const Result<void*> library = LoadLibrary();
  if (!library) return library.error();
  auto* const open =
      reinterpret_cast<OpenKeyPlacesFunction*>(::dlsym(*library, "icewright_open_key_places"));
  if (open == nullptr) return Error(Code::kInternal, fmt::format("{} is of no use", kLibrary));
  Result<OpenedKeyPlaces> result = OpenedKeyPlaces();
  open({.run = &run,
        .settings = &settings,
        .metadata = &metadata,
        .layout = &layout,
        .rebuild = rebuild,
        .result = &result});
  return result;
}

}  // namespace icewright
