# Libraries of which headers suffice, where those that are installed are for another processor or another C++ library:
# the headers are this machine's, and none of their neighbours in /usr/include is seen.
set(headers ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${headers})
function(headers_of library header)
  cmake_path(GET header PARENT_PATH folder)
  find_path(${folder}_HEADERS ${header} PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  file(CREATE_LINK ${${folder}_HEADERS}/${folder} ${headers}/${folder} SYMBOLIC)
  add_library(${library} INTERFACE IMPORTED)
  target_include_directories(${library} INTERFACE ${headers})
endfunction()
headers_of(fmt::fmt fmt/format.h)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
if(POSLAB_MATHEMATICS)                  # with its tests
  headers_of(doctest::doctest doctest/doctest.h)
  headers_of(nlohmann_json::nlohmann_json nlohmann/json.hpp)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")       # where size counts: no locales, no numbers of 16 bytes
  target_compile_definitions(fmt::fmt INTERFACE "FMT_STATIC_THOUSANDS_SEPARATOR=','" FMT_USE_LONG_DOUBLE=0
    FMT_USE_INT128=0)
endif()
