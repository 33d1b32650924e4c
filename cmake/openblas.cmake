# OpenBLAS as an engine for products (core/platform/openblas.h). The program is not linked with it: a run that asks for
# it loads it, and other runs need no OpenBLAS. POSLAB_OPENBLAS: with AUTO the program looks for the library; with ON
# the build fails if the library is missing; with OFF the program never looks.
set(POSLAB_OPENBLAS AUTO CACHE STRING "the engine openblas: AUTO, ON (an error if OpenBLAS is not here) or OFF")

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
  return()
endif()
find_library(OPENBLAS_LIBRARY NAMES libopenblas.so.0 libopenblasp.so.0 PATH_SUFFIXES openblas-pthread)
if(POSLAB_OPENBLAS STREQUAL "OFF")
  list(APPEND elsewhere core/platform/openblas.cpp)
  set(openblas_found "off")
elseif(OPENBLAS_LIBRARY)
  list(APPEND elsewhere core/platform/openblas_none.cpp)
  set(openblas_found "${OPENBLAS_LIBRARY}, loaded by --products openblas")
elseif(POSLAB_OPENBLAS STREQUAL "ON")
  message(FATAL_ERROR "POSLAB_OPENBLAS=ON, but there is no libopenblas.so.0: install it (Debian: apt install "
    "libopenblas0-pthread), or name it with -DOPENBLAS_LIBRARY=/path/to/libopenblas.so.0")
else()
  list(APPEND elsewhere core/platform/openblas_none.cpp)
  set(openblas_found "not here; --products openblas looks again when it runs")
endif()
