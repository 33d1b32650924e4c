# The parts that read and write files: lab/, the program, bench, and the headers that these need.
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_path(PCRE2_INCLUDE pcre2.h REQUIRED)             # for others' tokenizers: splitting into words, Unicode
find_library(PCRE2_LIBRARY pcre2-8 REQUIRED)
find_path(UTF8PROC_INCLUDE utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
find_path(SENTENCEPIECE_INCLUDE sentencepiece_processor.h REQUIRED)
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)

floor(lab experiment nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus ZLIB::ZLIB)
target_include_directories(lab PRIVATE ${PCRE2_INCLUDE} ${UTF8PROC_INCLUDE} ${SENTENCEPIECE_INCLUDE})
target_link_libraries(lab PRIVATE ${PCRE2_LIBRARY} ${UTF8PROC_LIBRARY} ${SENTENCEPIECE_LIBRARY})
add_custom_target(commit BYPRODUCTS ${CMAKE_BINARY_DIR}/made/commit.h
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
  -DOUT=${CMAKE_BINARY_DIR}/made/commit.h -P ${CMAKE_SOURCE_DIR}/cmake/commit.cmake)
add_dependencies(lab commit)
target_include_directories(lab PRIVATE ${CMAKE_BINARY_DIR}/made)
quickly_compiled(lab <nlohmann/json.hpp> encodings/encoding.h)       # not CLI11, which would cost 1.4 s for each source
compiled_by_folder(lab)
compiled_in_groups(lab 60 "/lab/papers/" papers)                  # small folders together
compiled_in_groups(lab 60 "/lab/pages/(ask|graph|page|show|web)/" pages)
compiled_in_groups(lab 60 "/lab/pages/(inspect|view)/" maps)
embed(lab lab/page/page.html lab/page/page.css lab/pages/report/tasks.txt lab/pages/report/language.txt
  lab/pages/report/t5.txt lab/pages/inspect/inspect.txt lab/pages/inspect/inside.txt lab/pages/view/view.txt
  lab/papers/artifacts.toml lab/papers/ladder/ladder.toml)
# A module comes after the modules that it imports.
set(modules text scale theme element table chart matrix document slides report inspect ask show tape map view)
list(TRANSFORM modules REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/lab/page/\\1.mjs")
embed_table(lab page_modules ${modules})

# The Python modules that the program starts as `python3 -m poslab_drawing.papers`, in share/poslab; also installed.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/poslab/poslab_drawing)
foreach(folder figures papers)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/poslab/${folder}
    ${CMAKE_BINARY_DIR}/share/poslab/poslab_drawing/${folder} SYMBOLIC)
endforeach()

floor(apps lab CLI11::CLI11)            # the program without its main
quickly_compiled(apps AS lab)
compiled_by_folder(apps)
file(GLOB formulas CONFIGURE_DEPENDS python/poslab/formulas/[a-z]*.py)
embed(apps apps/completion/poslab.bash apps/completion/poslab.zsh apps/completion/poslab.fish)
file(GLOB help_texts CONFIGURE_DEPENDS apps/help/*.txt)
embed_table(apps help_texts ${help_texts})                         # the ends of help texts
embed_table(apps formulas_in_numpy ${formulas})                    # poslab explain NAME --numpy
add_executable(poslab_program apps/poslab.cpp)
set_target_properties(poslab_program PROPERTIES OUTPUT_NAME poslab)
target_link_libraries(poslab_program PRIVATE apps $<TARGET_NAME_IF_EXISTS:cuda_device>)

file(GLOB benches CONFIGURE_DEPENDS bench/*.cpp)
add_executable(poslab_bench ${benches})
quickly_compiled(poslab_bench AS lab)
target_compile_options(poslab_bench PRIVATE -fPIC)      # as lab
compiled_by_folder(poslab_bench)
set_source_files_properties(bench/ceiling.cpp bench/ladder.cpp PROPERTIES COMPILE_OPTIONS -O3      # loops of their own
  SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(poslab_bench PRIVATE op_cases lab CLI11::CLI11
  $<TARGET_NAME_IF_EXISTS:cuda_device>)
find_library(DNNL_LIBRARY dnnl)         # only bench compares with it; with its OpenMP
find_path(DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_package(OpenMP)
if(DNNL_LIBRARY AND DNNL_INCLUDE AND OpenMP_CXX_FOUND)
  target_link_libraries(poslab_bench PRIVATE ${DNNL_LIBRARY} $<LINK_ONLY:OpenMP::OpenMP_CXX>)
  target_compile_definitions(poslab_bench PRIVATE POSLAB_WITH_DNNL)
endif()
