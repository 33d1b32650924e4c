# precompiled(TARGET HEADER...): these headers and those of the standard library that everybody includes are parsed once for the
# target, whose sources include them all the same: the preset debug builds without, and finds who forgot.
# The target is also compiled for the compiler's speed: whatever takes time when it runs is computed by the floors below.
function(precompiled target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <filesystem> <fstream> <functional> <map> <memory>
    <optional> <set> <string> <vector> ${ARGN})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
