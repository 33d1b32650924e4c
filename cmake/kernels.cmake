# The CPU kernels are one source, compiled once for each instruction set, each time in its own namespace
# (core/cpu/simd.h). The program picks a set when it starts (core/kernels.cpp), so a binary built here runs fast
# elsewhere too. POSLAB_KERNELS=here compiles one set, in a third of the time, for a program that stays here.
set(POSLAB_KERNELS all CACHE STRING "instruction sets: all; here, the best one of this machine; or baseline")
file(GLOB kernel_sources CONFIGURE_DEPENDS core/cpu/*.cpp core/cpu/attention/*.cpp)
set(POSLAB_ISAS baseline)
set(flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT POSLAB_KERNELS STREQUAL "baseline")
  list(APPEND POSLAB_ISAS avx2)
  if(NOT POSLAB_DOUBLE)                 # it checks gradients, for which two sets suffice
    list(APPEND POSLAB_ISAS avx512)
  endif()
  set(flags_avx2 -march=x86-64-v3)
  set(flags_avx512 -march=x86-64-v4)
endif()
if(POSLAB_KERNELS STREQUAL "here" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  try_run(best_isa compiled ${CMAKE_BINARY_DIR}/best_isa ${CMAKE_SOURCE_DIR}/cmake/best_isa.cpp
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR} CXX_STANDARD 20)
  if(POSLAB_DOUBLE AND best_isa EQUAL 2)
    set(best_isa 1)
  endif()
  list(GET POSLAB_ISAS ${best_isa} POSLAB_ISAS)
endif()
# Some sources are compiled as one. This can change which products and sums the compiler contracts: norm.cpp is alone,
# because in the group of_rows its avx2 bits changed (`poslab version --numerics`).
set(of_products linear matmul feed_forward gated_feed_forward stored)
set(of_attention attention/forward attention/backward attention/attention attention/statistics)
set(of_rows scan rotate geometric interpolate)
set(of_softmax softmax cross_entropy top_k)
function(kernels_in_groups target)
  get_target_property(sources ${target} SOURCES)
  foreach(group of_products of_attention of_rows of_softmax)
    foreach(name IN LISTS ${group})
      if(${CMAKE_SOURCE_DIR}/core/cpu/${name}.cpp IN_LIST sources)
        compiled_in_group(${target} ${group} ${CMAKE_SOURCE_DIR}/core/cpu/${name}.cpp)
      endif()
    endforeach()
  endforeach()
endfunction()
function(kernel_library isa name)         # kernels_ISA, in the namespace `name`
  add_library(kernels_${isa} OBJECT ${kernel_sources})
  target_compile_options(kernels_${isa} PRIVATE ${flags_${isa}} -Wno-psabi
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
  target_compile_definitions(kernels_${isa} PRIVATE POSLAB_ISA=${name})
  target_precompile_headers(kernels_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/core/kernels.h
    ${CMAKE_SOURCE_DIR}/core/platform/parallel.h ${CMAKE_SOURCE_DIR}/core/memory.h)
  kernels_in_groups(kernels_${isa})
endfunction()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")     # a module is linked with one set: cmake/web.cmake
  # In source order: else clang loads all factors of a product's tile first, in more than 16 registers. -O3 makes
  # kernels a third larger and no faster: their hot loops are unrolled by hand. But tiles must be inlined.
  set(flags_baseline -Os -fno-exceptions "SHELL:-mllvm -pre-RA-sched=source" -DPOSLAB_KERNEL=[[gnu::weak]])
  set(flags_relaxed ${flags_baseline} -mrelaxed-simd)
  list(FILTER kernel_sources EXCLUDE REGEX "/(gated_feed_forward|stored)\\.cpp$")   # only language models use these
  set_source_files_properties(core/cpu/gemm.cpp PROPERTIES COMPILE_FLAGS "-mllvm -inline-threshold=1000")
  kernel_library(baseline baseline)
  kernel_library(relaxed baseline)
  set_property(SOURCE core/kernels.cpp PROPERTY COMPILE_DEFINITIONS "POSLAB_ISAS=ISA(baseline)")
  return()
endif()
foreach(isa IN LISTS POSLAB_ISAS)
  kernel_library(${isa} ${isa})
  target_sources(core PRIVATE $<TARGET_OBJECTS:kernels_${isa}>)
  string(APPEND isa_list "ISA(${isa}) ")
endforeach()
set_property(SOURCE core/kernels.cpp PROPERTY COMPILE_DEFINITIONS "POSLAB_ISAS=${isa_list}")
# The sources that multiply pairs of bf16 (core/cpu/bf16/pairs.h) are compiled once more, for the bf16 instruction.
if(avx512 IN_LIST POSLAB_ISAS)
  set(of_pairs "gemm|linear|matmul|feed_forward|gated_feed_forward|attention/(attention|forward|backward)|stored")
  list(FILTER kernel_sources INCLUDE REGEX "/(${of_pairs})\\.cpp$")
  add_library(kernels_avx512_bf16 OBJECT ${kernel_sources} core/cpu/bf16/table.cpp)
  target_compile_options(kernels_avx512_bf16 PRIVATE ${flags_avx512} -mavx512bf16 -Wno-psabi
    $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
  target_compile_definitions(kernels_avx512_bf16 PRIVATE POSLAB_ISA=avx512_bf16)
  kernels_in_groups(kernels_avx512_bf16)
  target_sources(core PRIVATE $<TARGET_OBJECTS:kernels_avx512_bf16>)
  set_property(SOURCE core/kernels.cpp APPEND PROPERTY COMPILE_DEFINITIONS POSLAB_AVX512_BF16)
endif()
