add_library(icewright_warnings INTERFACE)
target_compile_options(icewright_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                    -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports both inside std::string and std::variant of correct code (GCC bugs 105329, 105562).
  target_compile_options(icewright_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(ICEWRIGHT_WERROR)
  target_compile_options(icewright_warnings INTERFACE -Werror)
endif()
