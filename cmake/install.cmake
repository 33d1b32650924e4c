# cmake --install build/release --prefix P installs the program, its completion, and the layers of the mathematics as
# static libraries with headers and a CMake package, find_package(poslab). `cpack -G DEB` makes a Debian package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(headers_at ${CMAKE_INSTALL_INCLUDEDIR}/poslab)
set(package_at ${CMAKE_INSTALL_LIBDIR}/cmake/poslab)

foreach(each IN LISTS mathematics)
  target_include_directories(${each} INTERFACE $<INSTALL_INTERFACE:${headers_at}>)
  install(DIRECTORY ${each} DESTINATION ${headers_at} FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
    PATTERN core/cpu EXCLUDE)
endforeach()
target_compile_features(core INTERFACE cxx_std_20)
if(POSLAB_DOUBLE)
  target_compile_definitions(core INTERFACE $<INSTALL_INTERFACE:POSLAB_DOUBLE>)
endif()
install(TARGETS ${mathematics} EXPORT poslab ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT poslab NAMESPACE poslab:: FILE poslab-targets.cmake DESTINATION ${package_at})
file(WRITE ${CMAKE_BINARY_DIR}/poslab-config.cmake "include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
include(\${CMAKE_CURRENT_LIST_DIR}/poslab-targets.cmake)
")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/poslab-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/poslab-config.cmake ${CMAKE_BINARY_DIR}/poslab-config-version.cmake
  DESTINATION ${package_at})

install(TARGETS poslab_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The page that `tools/web` made, if it is there: `poslab web` puts runs into it.
install(FILES ${CMAKE_BINARY_DIR}/../web/past-the-edge.html DESTINATION ${CMAKE_INSTALL_DATADIR}/poslab OPTIONAL)
install(DIRECTORY python/poslab/figures python/poslab/papers DESTINATION ${CMAKE_INSTALL_DATADIR}/poslab/poslab_drawing
  PATTERN __pycache__ EXCLUDE)
set(completion_at ${CMAKE_BINARY_DIR}/completion)
install(CODE "file(MAKE_DIRECTORY \"${completion_at}\")
foreach(shell IN ITEMS bash zsh fish)
  execute_process(COMMAND \"$<TARGET_FILE:poslab_program>\" completion \${shell}
    OUTPUT_FILE \"${completion_at}/poslab.\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
endforeach()")
install(FILES ${completion_at}/poslab.bash RENAME poslab
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion_at}/poslab.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The folder in which zsh looks depends on who installed zsh.
install(CODE "set(folder site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
  set(folder vendor-completions)
endif()
file(RENAME \"${completion_at}/poslab.zsh\" \"${completion_at}/_poslab\")
file(INSTALL \"${completion_at}/_poslab\" DESTINATION
  \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")")
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_CONTACT "the poslab authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "positional encodings and length generalization of small transformers")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)                  # the libraries of the program, by dpkg-shlibdeps
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libfmt-dev")       # to build a program with our headers
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)
