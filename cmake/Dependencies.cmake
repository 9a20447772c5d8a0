# Every third-party package, and nothing else.
include(FindPkgConfig)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(YAMLCPP REQUIRED IMPORTED_TARGET yaml-cpp)
add_library(icewright_yaml INTERFACE)
target_link_libraries(icewright_yaml INTERFACE PkgConfig::YAMLCPP)

# Compression and bitmaps, for codec.
pkg_check_modules(CODECS REQUIRED IMPORTED_TARGET libzstd libdeflate liblz4)
find_library(SNAPPY_LIBRARY snappy REQUIRED)
find_library(ROARING_LIBRARY roaring REQUIRED)
add_library(icewright_codecs INTERFACE)
target_link_libraries(icewright_codecs INTERFACE PkgConfig::CODECS ZLIB::ZLIB ${SNAPPY_LIBRARY}
                                                 ${ROARING_LIBRARY} fmt::fmt)

# SQL drivers, for database.
pkg_check_modules(POSTGRES REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(MARIADB REQUIRED IMPORTED_TARGET libmariadb)
add_library(icewright_postgres ALIAS PkgConfig::POSTGRES)
add_library(icewright_mariadb ALIAS PkgConfig::MARIADB)

# ZooKeeper, for lock: the client with its own threads.
find_library(ZOOKEEPER_LIBRARY zookeeper_mt REQUIRED)
add_library(icewright_zookeeper INTERFACE)
target_compile_definitions(icewright_zookeeper INTERFACE THREADED)
target_link_libraries(icewright_zookeeper INTERFACE ${ZOOKEEPER_LIBRARY})

# The HTTP server and Prometheus' text format, for the program.
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
add_library(icewright_http INTERFACE)
target_link_libraries(icewright_http INTERFACE PkgConfig::HTTPLIB PkgConfig::PROMETHEUS)

# RocksDB, for maintain: the key index. The archive, if there is one: what is linked dynamically costs
# each process twice the memory, also those that never open an index.
find_library(ROCKSDB_ARCHIVE NAMES librocksdb.a rocksdb REQUIRED)
find_library(BZ2_LIBRARY bz2 REQUIRED)
add_library(icewright_rocksdb INTERFACE)
target_link_libraries(icewright_rocksdb INTERFACE ${ROCKSDB_ARCHIVE} icewright_codecs ${BZ2_LIBRARY}
                                                  ${CMAKE_DL_LIBS} Threads::Threads)

# Arrow and Parquet, for data: an installed Arrow of the right version, else the pyarrow wheel that
# `make setup` puts into the project's venv.
add_library(icewright_arrow INTERFACE)
find_package(Arrow 26 QUIET CONFIG)
find_package(Parquet 26 QUIET CONFIG)
if(Arrow_FOUND AND Parquet_FOUND)
  target_link_libraries(icewright_arrow INTERFACE Arrow::arrow_shared Parquet::parquet_shared)
else()
  file(GLOB ICEWRIGHT_PYARROW
       ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/pyarrow)
  if(NOT ICEWRIGHT_PYARROW)
    message(FATAL_ERROR "no Arrow 26 found: neither installed nor in .venv; run 'make setup'")
  endif()
  target_include_directories(icewright_arrow SYSTEM INTERFACE ${ICEWRIGHT_PYARROW}/include)
  target_link_libraries(icewright_arrow INTERFACE ${ICEWRIGHT_PYARROW}/libparquet.so.2600
                                                  ${ICEWRIGHT_PYARROW}/libarrow.so.2600)
endif()

if(ICEWRIGHT_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(ICEWRIGHT_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
