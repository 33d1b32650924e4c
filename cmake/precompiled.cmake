# precompiled(TARGET HEADER...) parses these headers, and the standard headers that nearly all files include, once for
# the target. Its sources still include them: the preset debug builds without this, and finds missing includes.
# Targets with the same compiler options can share the parsed headers: precompiled_as(TARGET OTHER).
function(precompiled target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <filesystem> <fstream>
    <functional> <map> <memory> <optional> <set> <string> <vector> <fmt/format.h> ${ARGN})
endfunction()

function(precompiled_as target other)
  target_precompile_headers(${target} REUSE_FROM ${other})
endfunction()

# The same as precompiled, or with AS OTHER as precompiled_as. A release also compiles the target with -Og in place of
# -O3: the code that takes time lies in the layers below. WebAssembly is compiled for size, all of it like core.
set(POSLAB_QUICK_OPTIMIZATION -Og CACHE STRING "of sources whose speed matters little, in a release")
function(quickly_compiled target)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
    precompiled_as(${target} core)
  elseif(ARGV1 STREQUAL "AS")
    precompiled_as(${target} ${ARGV2})
  else()
    precompiled(${target} ${ARGN})
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
    target_compile_options(${target} PRIVATE ${POSLAB_QUICK_OPTIMIZATION})
  endif()
endfunction()

# Compiles several sources as one, in a quarter to a half of the time, because they share headers and templates. So
# names in anonymous namespaces must differ between them. Builds without precompiled headers compile each file alone,
# which shows missing includes; POSLAB_ALONE compiles those files alone that tools/mutate changes.
option(POSLAB_ALONE "sources that tools/mutate changes are compiled file by file" OFF)
function(compiled_in_group target group source)
  set(alone "^(autograd|encodings|nn|tasks|experiment|kernels_.*) | lab_(files|runs)")
  if(POSLAB_ALONE AND "${target} ${group}" MATCHES "${alone}")
    return()
  endif()
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endif()
endfunction()

# Groups of `size` neighbouring sources that match a pattern. NAME, if given, distinguishes the groups of two calls.
function(compiled_in_groups target size pattern)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${pattern}")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")       # its builds are rarely incremental
    math(EXPR size "${size} * 4")
  endif()
  set(count 0)
  foreach(source IN LISTS sources)
    math(EXPR group "${count} / ${size}")
    math(EXPR count "${count} + 1")
    compiled_in_group(${target} ${ARGN}${group} ${source})
  endforeach()
endfunction()

# Groups the sources of each folder. A generated source has no such folder and stays alone.
function(compiled_by_folder target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "^${CMAKE_BINARY_DIR}/")
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE group)
      cmake_path(GET group PARENT_PATH group)
      string(REPLACE "/" "_" group ${group})
      compiled_in_group(${target} ${group} ${source})
    endif()
  endforeach()
endfunction()
