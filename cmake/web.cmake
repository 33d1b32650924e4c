# The engine of the page (web/): a WebAssembly module without a main program, in two versions. One is for every browser
# with 128-bit vectors. The other is for browsers with relaxed SIMD: it multiplies and adds in one instruction, which
# rounds once. Both have the same objects except for the kernels.
file(GLOB web_sources CONFIGURE_DEPENDS web/*.cpp)
add_library(web_objects OBJECT ${web_sources})
compiled_by_folder(web_objects)
precompiled_as(web_objects core)
target_link_libraries(web_objects PUBLIC experiment)
target_compile_definitions(web_objects PRIVATE POSLAB_VERSION="${PROJECT_VERSION}")
# The numbers that the linker fills in take as few bytes as possible, which saves a sixth of the file. -O0 is for
# linking only: otherwise clang runs wasm-opt if it finds one, and Debian's does not know relaxed SIMD.
foreach(kind baseline relaxed)
  add_executable(web_${kind} $<TARGET_OBJECTS:web_objects> $<TARGET_OBJECTS:kernels_${kind}>)
  target_link_libraries(web_${kind} PRIVATE experiment)
  target_link_options(web_${kind} PRIVATE -mexec-model=reactor -O0
    -Wl,--gc-sections,--strip-all,--compress-relocations,-O2)
endforeach()
set_target_properties(web_baseline PROPERTIES OUTPUT_NAME lab)
set_target_properties(web_relaxed PROPERTIES OUTPUT_NAME lab_relaxed)
add_custom_target(web DEPENDS web_baseline web_relaxed)
