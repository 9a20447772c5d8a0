# icewright_module(NAME LAYER n [DEPENDS modules...] [LIBS third-party targets...])
# Makes icewright_NAME from *.cc, NAME_test from *_test.cc, NAME_bench from *_bench.cc and one
# executable per *_fuzz.cc, here and in sub-folders.
# A module may depend only on lower layers; tools/check_layers.py holds #include to the same list.
define_property(TARGET PROPERTY ICEWRIGHT_LAYER)

# Registers every case of a test binary. Suites whose name says so get their label: *Sweep*: sweep,
# *Golden*: golden, *Service*: service, *Slow*: slow. All others are unit.
include(GoogleTest)
function(icewright_discover_tests target)
  set(excluded "")
  foreach(kind Sweep Golden Service Slow)
    string(TOLOWER ${kind} label)
    gtest_discover_tests(${target} TEST_FILTER "*${kind}*.*" DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${label}" TIMEOUT 600)
    string(APPEND excluded ":*${kind}*.*")
  endforeach()
  string(SUBSTRING "${excluded}" 1 -1 excluded)
  gtest_discover_tests(${target} TEST_FILTER "-${excluded}" DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "unit" TIMEOUT 120)
endfunction()

function(icewright_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAYER" "DEPENDS;LIBS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  set(benches ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})

  add_library(icewright_${name} STATIC ${sources})
  target_include_directories(icewright_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(icewright_${name} PRIVATE icewright_warnings ${arg_LIBS})
  set_target_properties(icewright_${name} PROPERTIES ICEWRIGHT_LAYER ${arg_LAYER})
  foreach(dep IN LISTS arg_DEPENDS)
    get_target_property(below icewright_${dep} ICEWRIGHT_LAYER)
    if(NOT below LESS arg_LAYER)
      message(FATAL_ERROR "${name} (layer ${arg_LAYER}) must not depend on ${dep} (layer ${below})")
    endif()
    target_link_libraries(icewright_${name} PUBLIC icewright_${dep})
  endforeach()

  if(ICEWRIGHT_BUILD_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE icewright_${name} icewright_testing icewright_warnings
                                               ${arg_LIBS} GTest::gmock_main)
    # Test bodies gain nothing from the optimiser, which takes minutes over the longest of them.
    target_compile_options(${name}_test PRIVATE -O0)
    icewright_discover_tests(${name}_test)
  endif()
  if(ICEWRIGHT_BUILD_BENCHMARKS AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE icewright_${name} icewright_warnings ${arg_LIBS}
                                                benchmark::benchmark_main)
  endif()
  foreach(fuzzer IN LISTS fuzzers)
    get_filename_component(target ${fuzzer} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" corpus ${target})
    add_executable(${target} ${fuzzer})
    target_link_libraries(${target} PRIVATE icewright_${name} icewright_warnings ${arg_LIBS})
    if(ICEWRIGHT_FUZZ)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    elseif(ICEWRIGHT_BUILD_TESTS)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/testing/fuzz_replay_main.cc)
      add_test(NAME FuzzReplay.${corpus}
               COMMAND ${target} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus})
      set_tests_properties(FuzzReplay.${corpus} PROPERTIES LABELS "unit;fuzz")
    endif()
  endforeach()
endfunction()
