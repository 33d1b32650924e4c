# precompiled(TARGET HEADER...): these headers, and those of the standard library that nearly everybody includes, are
# parsed once for the target. Its sources include them all the same: the preset debug builds without, and finds who
# forgot. Targets that are compiled with the same options share what is parsed: precompiled_as(TARGET OTHER).
function(precompiled target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <filesystem> <fstream>
    <functional> <map> <memory> <optional> <set> <string> <vector> <fmt/format.h> ${ARGN})
endfunction()

function(precompiled_as target other)
  target_precompile_headers(${target} REUSE_FROM ${other})
endfunction()

# The same as precompiled, and a release compiles the target with -Og in place of -O3: what takes time when it runs lies
# on the floors below.
function(quickly_compiled target)
  precompiled(${target} ${ARGN})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -Og)
  endif()
endfunction()
