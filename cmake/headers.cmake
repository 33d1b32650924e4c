# Libraries that are used through headers alone, because the installed ones are for another processor or another C++
# library. The headers are this machine's; no other header in /usr/include is visible.
set(headers ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${headers})
function(headers_of library header)
  cmake_path(GET header PARENT_PATH folder)
  find_path(${folder}_HEADERS ${header} PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  file(CREATE_LINK ${${folder}_HEADERS}/${folder} ${headers}/${folder} SYMBOLIC)
  add_library(${library} INTERFACE IMPORTED)
  target_include_directories(${library} INTERFACE ${headers})
endfunction()
headers_of(fmt::headers fmt/format.h)
# fmt is compiled once: compiled with each source, it took a sixth of the time or more. Which functions fmt leaves to
# its library differs between versions.
file(STRINGS ${headers}/fmt/core.h fmt_9 REGEX "define FMT_VERSION 9")
if(fmt_9)
  add_library(fmt_once STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
  add_library(fmt::fmt ALIAS fmt_once)
  target_link_libraries(fmt_once PUBLIC fmt::headers)
else()
  add_library(fmt::fmt ALIAS fmt::headers)
  target_compile_definitions(fmt::headers INTERFACE FMT_HEADER_ONLY)
endif()
if(POSLAB_MATHEMATICS)                  # with its tests
  headers_of(doctest::doctest doctest/doctest.h)
  headers_of(nlohmann_json::nlohmann_json nlohmann/json.hpp)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")       # size matters: no locales, no 16-byte numbers
  target_compile_definitions(fmt::headers INTERFACE "FMT_STATIC_THOUSANDS_SEPARATOR=','" FMT_USE_LONG_DOUBLE=0
    FMT_USE_INT128=0)
endif()
