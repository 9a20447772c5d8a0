#include "testing/paths.h"

namespace icewright {

std::string SourceFolder() { return ICEWRIGHT_SOURCE_DIR; }
std::string BuildFolder() { return ICEWRIGHT_BINARY_DIR; }

}  // namespace icewright
