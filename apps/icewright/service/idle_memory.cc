#include "icewright/service/idle_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace icewright::cli {

void GiveIdleMemoryBack() {
  ::malloc_trim(0);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string access;
    std::string offset;
    std::string device;
    std::string inode;
    std::string path;
    words >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode >> path;
    // Only code of files: nobody can have written to it, so that nothing is lost.
    if (!words || access != "r-xp" || !path.starts_with('/')) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is text in that file
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

}  // namespace icewright::cli
