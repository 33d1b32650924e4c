# precompiled(TARGET -Og|-O1 HEADER...): these headers, and those of the standard library that nearly everybody
# includes, are parsed once for the target. Its sources include them all the same: the preset debug builds without, and
# finds who forgot. A release compiles the target with the given option in place of -O3: what takes time when it runs
# lies on the floors below.
function(precompiled target optimization)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <filesystem> <fstream>
    <functional> <map> <memory> <optional> <set> <string> <vector> ${ARGN})
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE ${optimization})
  endif()
endfunction()
