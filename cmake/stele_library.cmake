# stele_library(<folder>
#   SOURCES a.cc b.cc          the library itself; leave out for a header-only one
#   TESTS   a_test.cc          run by ctest with the label `unit`
#   FUZZERS a_fuzz.cc          one program each, built where STELE_FUZZERS is on, label `fuzz`
#   MAINS   main.cc            sources of targets that the folder's CMakeLists.txt adds itself
#   BENCHES a_bench.cc         Google Benchmark programs, run once by ctest with the label `bench`
#   DEPENDS util formats/url   our libraries, as folders below src/
#   LINK    PkgConfig::libpsl  outside libraries
#   ALONE   a.cc a_test.cc)    those with names of their own that another source or test has
#
# Call it from src/<folder>/CMakeLists.txt. The target of folder formats/url is stele_formats_url.
# A .cc file in the folder that is not named here stops the configure step.
function(stele_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;FUZZERS;BENCHES;MAINS;DEPENDS;LINK;ALONE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target stele_${name})

  file(GLOB present RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cc)
  foreach(file IN LISTS present)
    if(NOT file IN_LIST ARG_SOURCES AND NOT file IN_LIST ARG_TESTS AND NOT file IN_LIST ARG_FUZZERS
       AND NOT file IN_LIST ARG_BENCHES AND NOT file IN_LIST ARG_MAINS)
      message(FATAL_ERROR "src/${folder}/${file} is not registered in src/${folder}/CMakeLists.txt")
    endif()
  endforeach()

  set_property(SOURCE ${ARG_ALONE} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  set(dependencies)
  foreach(dependency IN LISTS ARG_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    list(APPEND dependencies stele_${dependency})
  endforeach()

  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_link_libraries(${target} PUBLIC stele_options ${dependencies} ${ARG_LINK})
    stele_join_sources(${target})
    if(folder IN_LIST STELE_TOPMOST)
      target_link_libraries(${target} PRIVATE stele_unoptimised)
      target_precompile_headers(${target} REUSE_FROM stele_topmost_pch)
    elseif(folder IN_LIST STELE_UNOPTIMISED)
      target_link_libraries(${target} PRIVATE stele_unoptimised stele_fuzzed)
      target_precompile_headers(${target} REUSE_FROM stele_unoptimised_pch)
    else()
      target_link_libraries(${target} PRIVATE stele_fuzzed)
      target_precompile_headers(${target} REUSE_FROM stele_pch)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE stele_options ${dependencies} ${ARG_LINK})
  endif()

  if(ARG_TESTS)
    stele_test(${name}_test LABEL unit SOURCES ${ARG_TESTS} LINK ${target})
  endif()
  foreach(source IN LISTS ARG_FUZZERS)
    stele_fuzzer(${source} ${target})
  endforeach()
  foreach(source IN LISTS ARG_BENCHES)
    stele_bench(${source} ${target})
  endforeach()
endfunction()

# What the sources share is then parsed and instantiated once.
function(stele_join_sources target)
  if(STELE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # takes a joined source for a header
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# stele_test(<program> LABEL unit|integration SOURCES ... LINK ...)
# `unit_tests` builds all programs with the label unit.
function(stele_test program)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(STELE_TEST_SOURCES)
    list(FILTER ARG_SOURCES INCLUDE REGEX ${STELE_TEST_SOURCES})
    if(NOT ARG_SOURCES)
      add_custom_target(${program})
      return()
    endif()
  endif()
  add_executable(${program} ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_LINK} stele_test_paths stele_options
                        stele_unoptimised GTest::gmock GTest::gtest_main)
  target_precompile_headers(${program} REUSE_FROM stele_test_pch)
  stele_join_sources(${program})
  if(ARG_LABEL STREQUAL "unit")
    add_dependencies(unit_tests ${program})
  endif()
  if(STELE_SANITIZE)
    stele_add_test_parts(${program} ${ARG_LABEL})
  else()
    gtest_discover_tests(${program} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 600)
  endif()
endfunction()

# Under a sanitizer a process takes longer to begin than most tests to run: each has a part of all.
function(stele_add_test_parts program label)
  set(parts 4)
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME ${program}.${part} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${program}.${part} PROPERTIES LABELS ${label} TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# The seed is fixed, so that one commit gives one answer; -seed=0 by hand looks further.
function(stele_fuzzer source target)
  if(NOT STELE_FUZZERS)
    return()
  endif()
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} ${source})
  target_link_libraries(${program} PRIVATE ${target} stele_options)
  target_compile_options(${program} PRIVATE -fsanitize=fuzzer)
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${program})
  if(NOT EXISTS ${corpus})
    set(corpus)
  endif()
  set(found ${CMAKE_BINARY_DIR}/fuzz/${program})
  file(MAKE_DIRECTORY ${found})
  add_test(NAME fuzz.${program} COMMAND ${program} -seed=1 -max_total_time=1 -timeout=10
           -rss_limit_mb=1024 -artifact_prefix=${found}/ ${found} ${corpus})
  set_tests_properties(fuzz.${program} PROPERTIES LABELS fuzz)
endfunction()

# A benchmark under a sanitizer measures nothing and is not built.
function(stele_bench source target)
  if(STELE_SANITIZE)
    return()
  endif()
  get_filename_component(program ${source} NAME_WE)
  add_executable(${program} ${source})
  target_link_libraries(${program} PRIVATE ${target} stele_test_paths stele_options
                        benchmark::benchmark benchmark::benchmark_main)
  add_test(NAME bench.${program} COMMAND ${program} --benchmark_min_time=0)
  set_tests_properties(bench.${program} PROPERTIES LABELS bench)
endfunction()
