# Text files that travel inside the program. embed(TARGET FILE...) turns lab/pages/page/page.css into
# `extern const std::string_view page_css`, made again whenever the file changes. This file is also the script that
# does it.
if(CMAKE_SCRIPT_MODE_FILE)
  set(made "#include <string_view>\nnamespace poslab {\n")
  foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" name ${name})
    file(READ ${file} text)
    string(APPEND made "extern const std::string_view ${name};\n")
    string(APPEND made "const std::string_view ${name} = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(WRITE ${OUT} "${made}}\n")
  return()
endif()

set(embed_script ${CMAKE_CURRENT_LIST_FILE})
function(embed target)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  set(made ${CMAKE_BINARY_DIR}/embedded_${target}.cpp)
  add_custom_command(OUTPUT ${made} DEPENDS ${files} ${embed_script} VERBATIM
                     COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUT=${made} -P ${embed_script})
  target_sources(${target} PRIVATE ${made})
endfunction()
