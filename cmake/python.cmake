# The Python module, poslab._poslab, from the objects of the program: tools/python, or `pip install .` (pyproject.toml).
# In the build tree it lies in python/poslab, together with links to the package's sources.
option(POSLAB_PYTHON "build the Python module; needs nanobind, found by Python_EXECUTABLE" OFF)
if(NOT POSLAB_PYTHON)
  return()
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

file(GLOB module CONFIGURE_DEPENDS python/*.cpp)
# With the stable ABI one file fits Python 3.10 and all later versions. The code that differs between them is in
# nanobind-backend, which comes from PyPI.
nanobind_add_module(poslab_python BACKEND_MODULE nanobind_backend NOMINSIZE ${module})
target_link_libraries(poslab_python PRIVATE lab $<TARGET_NAME_IF_EXISTS:cuda_device>)
target_link_options(poslab_python PRIVATE -Wl,--exclude-libs,ALL)
compiled_in_groups(poslab_python 8 "/python/")
set_target_properties(poslab_python PROPERTIES OUTPUT_NAME _poslab EXCLUDE_FROM_ALL ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/poslab)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(poslab_python PRIVATE -Os)
endif()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/python/poslab)
file(GLOB package CONFIGURE_DEPENDS python/poslab/*.py)
foreach(source IN LISTS package)
  cmake_path(GET source FILENAME name)
  file(CREATE_LINK ${source} ${CMAKE_BINARY_DIR}/python/poslab/${name} SYMBOLIC)
endforeach()
foreach(folder figures formulas papers torch)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/poslab/${folder} ${CMAKE_BINARY_DIR}/python/poslab/${folder} SYMBOLIC)
endforeach()
install(TARGETS poslab_python LIBRARY DESTINATION poslab COMPONENT python EXCLUDE_FROM_ALL OPTIONAL)
# The types of the whole module, for editors: _poslab.pyi, made from the module itself.
set(types ${CMAKE_BINARY_DIR}/python/poslab/_poslab.pyi ${CMAKE_BINARY_DIR}/python/poslab/py.typed)
nanobind_add_stub(poslab_python_types EXCLUDE_FROM_ALL MODULE poslab._poslab OUTPUT python/poslab/_poslab.pyi
  MARKER_FILE python/poslab/py.typed PYTHON_PATH ${CMAKE_BINARY_DIR}/python DEPENDS poslab_python)
install(FILES ${types} DESTINATION poslab COMPONENT python EXCLUDE_FROM_ALL OPTIONAL)
if(SKBUILD)                              # pip's build (pyproject.toml): the program, in the environment's bin
  install(TARGETS poslab_program RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python EXCLUDE_FROM_ALL
    OPTIONAL)
  install(FILES ${CMAKE_SOURCE_DIR}/build/web/past-the-edge.html DESTINATION ${SKBUILD_DATA_DIR}/share/poslab
    COMPONENT python EXCLUDE_FROM_ALL OPTIONAL)          # as in cmake/install.cmake
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/poslab/figures ${CMAKE_SOURCE_DIR}/python/poslab/papers
    DESTINATION ${SKBUILD_DATA_DIR}/share/poslab/poslab_drawing COMPONENT python EXCLUDE_FROM_ALL
    PATTERN __pycache__ EXCLUDE)
endif()
