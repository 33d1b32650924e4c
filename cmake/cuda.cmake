# The CUDA kernels are compiled twice: as plain C++ for the tests, which run them as fibers on the CPU (cuda/emulate.h),
# and for the GPU if nvcc is found. POSLAB_CUDA: AUTO uses nvcc if there is one; ON fails without it; OFF ignores it.
set(POSLAB_CUDA AUTO CACHE STRING "kernels for the GPU: AUTO, ON (an error if there is no nvcc) or OFF")
option(POSLAB_EMULATION "tests of the CUDA kernels, run by fibers on the CPU" ON)

file(GLOB cuda_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} cuda/*.cu cuda/naive/*.cu)
set(cuda_host cuda/queue.cpp cuda/table.cpp cuda/naive/table.cpp)
if(POSLAB_EMULATION AND POSLAB_CUDA STREQUAL "ON")     # a machine with a GPU may do without the emulation's tests
  find_package(Boost QUIET COMPONENTS context)
elseif(POSLAB_EMULATION)
  find_package(Boost REQUIRED COMPONENTS context)
endif()
# Six sources are compiled as one, because most of nvcc's time goes into the headers that they share: names must differ
# between them. With 1, each is compiled alone, so that tools/resources can name the source of each kernel.
set(POSLAB_CUDA_SOURCES_AS_ONE 6 CACHE STRING "how many .cu are compiled as one")
# elementwise.cu is compiled alone: its kernels have the names of C's functions, which other sources call.
list(FILTER cuda_sources EXCLUDE REGEX "elementwise")
function(cuda_group name)                                                       # SOURCE...
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n")
  string(CONCAT text ${ARGN})
  foreach(file emulated/${name}.cpp device/${name}.cu)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${file} CONTENT "${text}")
  endforeach()
  set(emulated ${emulated} ${CMAKE_BINARY_DIR}/emulated/${name}.cpp PARENT_SCOPE)
  set(device ${device} ${CMAKE_BINARY_DIR}/device/${name}.cu PARENT_SCOPE)
endfunction()
cuda_group(elementwise cuda/elementwise.cu)
list(LENGTH cuda_sources count)
math(EXPR last "${count} - 1")
foreach(first RANGE 0 ${last} ${POSLAB_CUDA_SOURCES_AS_ONE})
  list(SUBLIST cuda_sources ${first} ${POSLAB_CUDA_SOURCES_AS_ONE} some)
  set(name group_${first})
  if(POSLAB_CUDA_SOURCES_AS_ONE EQUAL 1)
    string(REGEX REPLACE "^cuda/(.*)[.]cu$" "\\1" name "${some}")
  endif()
  if(some)
    cuda_group(${name} ${some})
  endif()
endforeach()
if(TARGET Boost::context)
  add_library(cuda_emulated STATIC EXCLUDE_FROM_ALL ${emulated} ${cuda_host} cuda/emulate.cpp cuda/driver_emulated.cpp)
  target_compile_definitions(cuda_emulated PUBLIC POSLAB_EMULATE)
  # Registers are filled in loops that run at least once: no warning. local-exec: thread-local variables need no call,
  # as this is only linked into programs. Not initial-exec: the linker turns its `add` into a `lea`, which sets no
  # flags; where GCC reuses these flags to compare with null, the undefined-behaviour sanitizer wrongly reports a null
  # pointer. -O2 compiles much faster than -O3, and the host's part of a step costs as much as with a GPU.
  target_compile_options(cuda_emulated PRIVATE -Wno-maybe-uninitialized -ftls-model=local-exec
    $<$<CONFIG:Release>:-O2>)
  target_link_libraries(cuda_emulated PUBLIC core Boost::context)
  if(POSLAB_SANITIZE MATCHES thread)    # it knows no fibers, so it watches only the host's part of a step
    set_property(SOURCE ${emulated} cuda/emulate.cpp PROPERTY COMPILE_OPTIONS -fno-sanitize=thread)
  endif()

  # The kernels once more, compiled so that each load and store calls a function of cuda/races.cpp. The sanitizer's own
  # runtime is not linked. With -O1 the compiler does not remove or merge loads and stores.
  add_library(cuda_watched OBJECT EXCLUDE_FROM_ALL ${emulated} tests/tools/races/planted.cpp)
  target_compile_definitions(cuda_watched PRIVATE POSLAB_EMULATE)
  target_compile_options(cuda_watched PRIVATE -fsanitize=thread -O1 -g1 -Wno-maybe-uninitialized)
  target_link_libraries(cuda_watched PRIVATE core)
else()
  message(STATUS "poslab: no emulated GPU, so no tests of the CUDA kernels")
endif()

set(cuda_found no)
if(NOT POSLAB_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
    enable_language(CUDA)
    if(NOT architectures)   # Turing to Blackwell; PTX of the last for newer ones
      set(architectures 75-real 80-real 86-real 89-real 90)
      if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
        set(architectures 75-real 80-real 86-real 89-real 90-real 100-real 120)
      endif()
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "of the GPUs that the kernels are compiled for" FORCE)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)               # CMake 3.25 does not know nvcc's option
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(cuda_found yes)
  elseif(POSLAB_CUDA STREQUAL "ON")
    message(FATAL_ERROR "POSLAB_CUDA=ON, but there is no nvcc: put it on the PATH, name it with "
      "-DCMAKE_CUDA_COMPILER=/path/to/nvcc, or run `./dev build cuda`, which installs one in .nvcc")
  endif()
endif()

if(cuda_found)
  add_library(cuda_device STATIC EXCLUDE_FROM_ALL ${device} ${cuda_host} cuda/driver.cpp cuda/cublas.cpp)
  target_compile_options(cuda_device PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=$<JOIN:${warnings},$<COMMA>>>")
  target_include_directories(cuda_device SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_link_libraries(cuda_device PUBLIC core)             # and CMake links the static runtime
  target_compile_definitions(cuda_device PUBLIC POSLAB_CUDA)
  set_target_properties(cuda_device PROPERTIES OPTIMIZE_DEPENDENCIES ON)      # it can be built before core
endif()
