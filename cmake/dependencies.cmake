# Everything Stele links against, all of it from Debian packages (see tools/packages.txt).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(ICU 72 REQUIRED COMPONENTS uc i18n data)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(RocksDB REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

foreach(module IN ITEMS libdeflate libisal libzstd libbrotlidec libxxhash libpsl uchardet
        pugixml tomlplusplus libcares)
  pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
endforeach()

include(GoogleTest)
