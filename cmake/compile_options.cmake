# One interface target carries warnings, sanitizers and the include root; one object library
# carries the precompiled standard headers that every target reuses.
add_library(stele_options INTERFACE)
target_include_directories(stele_options INTERFACE ${CMAKE_SOURCE_DIR}/src
                           ${CMAKE_BINARY_DIR}/generated)
target_compile_options(stele_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi
  -fno-omit-frame-pointer)
target_link_libraries(stele_options INTERFACE fmt::fmt)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees faults in inlined standard-library code where there are none (GCC bugs 105329,
  # 105562, 105651).
  target_compile_options(stele_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized
                         -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
                         -fpch-preprocess)  # lets ccache work with precompiled headers
endif()

if(STELE_SANITIZE)
  target_compile_options(stele_options INTERFACE -fsanitize=${STELE_SANITIZE}
                         -fno-sanitize-recover=all)
  target_link_options(stele_options INTERFACE -fsanitize=${STELE_SANITIZE})
  target_compile_definitions(stele_options INTERFACE STELE_SANITIZED)
  find_program(LLD ld.lld-16)
  if(LLD)  # links these large programs several times as fast
    target_link_options(stele_options INTERFACE -fuse-ld=lld)
  endif()
endif()
# What fuzzers steer by: of libraries that they reach, and not of tests.
add_library(stele_fuzzed INTERFACE)
if(STELE_FUZZERS)
  target_compile_options(stele_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# What nearly every source includes is parsed once: for the libraries, and for the tests.
function(stele_precompile target)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  # Written once, so that configuring again compiles nothing again.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${target}.cc CONTENT "")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/generated/${target}.cc)
  target_link_libraries(${target} PRIVATE stele_options ${ARG_LINK})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <functional> <map> <memory> <mutex>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h> ${ARG_HEADERS})
endfunction()
stele_precompile(stele_pch LINK stele_fuzzed)

# Tests are compiled more often than they run: what they test is optimised, they are not. That
# takes a third off a build from nothing.
add_library(stele_unoptimised INTERFACE)
target_compile_options(stele_unoptimised INTERFACE -O0)
stele_precompile(stele_test_pch HEADERS <gmock/gmock.h> <gtest/gtest.h>
                 LINK GTest::gmock stele_unoptimised)

# So are libraries in whose tests the machine mostly waits, where a sanitizer makes optimising dear.
# No fuzzer reaches the topmost.
if(STELE_SANITIZE)
  set(STELE_UNOPTIMISED access crawl crawl/control dedup)
  stele_precompile(stele_unoptimised_pch LINK stele_unoptimised stele_fuzzed)
  set(STELE_TOPMOST cli study)
  stele_precompile(stele_topmost_pch LINK stele_unoptimised)
endif()
