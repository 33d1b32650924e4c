# The CPU kernels are one source compiled once for each instruction set, each in a namespace of its own
# (core/cpu/simd.h); the program picks one when it starts (core/kernels.cpp), so a binary built here is right and fast
# elsewhere.
file(GLOB kernel_sources CONFIGURE_DEPENDS core/cpu/*.cpp)
set(POSLAB_ISAS baseline)
set(flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND POSLAB_ISAS avx2)
  if(NOT POSLAB_DOUBLE)                 # which is for checking gradients; two sets will do there
    list(APPEND POSLAB_ISAS avx512)
  endif()
  set(flags_avx2 -march=x86-64-v3)
  set(flags_avx512 -march=x86-64-v4)
endif()
foreach(isa IN LISTS POSLAB_ISAS)
  add_library(kernels_${isa} OBJECT ${kernel_sources})
  target_compile_options(kernels_${isa} PRIVATE ${flags_${isa}} -Wno-psabi
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
  target_compile_definitions(kernels_${isa} PRIVATE POSLAB_ISA=${isa})
  target_sources(core PRIVATE $<TARGET_OBJECTS:kernels_${isa}>)
  string(APPEND isa_list "ISA(${isa}) ")
endforeach()
target_compile_definitions(core PRIVATE "POSLAB_ISAS=${isa_list}")
