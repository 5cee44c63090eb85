# Installs ev and bufio as libraries for other programs, with a CMake package and pkg-config files.
# With -DYODEL_INSTALL_LIBRARIES=ON, `cmake --install BUILD` installs them, too; without it, only
# `cmake --install BUILD --component libraries` does.
include(CMakePackageConfigHelpers)
set(in_component COMPONENT libraries)
if(NOT YODEL_INSTALL_LIBRARIES)
  list(APPEND in_component EXCLUDE_FROM_ALL)
endif()
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/yodel)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/yodel)

# Users must compile with these definitions, because they change types in the headers.
set(definitions _FILE_OFFSET_BITS=64)

# The names of the files must differ from those of libev.
foreach(library ev bufio)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME yodel_${library})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${headers}>)
  target_compile_definitions(${library} INTERFACE $<INSTALL_INTERFACE:${definitions}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
  install(TARGETS ${library} EXPORT yodel DESTINATION ${CMAKE_INSTALL_LIBDIR} ${in_component})
  install(DIRECTORY ${library} DESTINATION ${headers} ${in_component}
    FILES_MATCHING PATTERN "*.hpp" REGEX "/(system|tls_internal)\\.hpp$" EXCLUDE)
endforeach()
install(EXPORT yodel FILE yodel-targets.cmake NAMESPACE yodel:: DESTINATION ${package} ${in_component})
write_basic_package_version_file(yodel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/yodel-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/yodel-config-version.cmake DESTINATION ${package} ${in_component})

# Paths in pkg-config files are relative to the file, so that the installed files can be moved.
function(install_pkg_config library description requires libs)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/pkg-config.pc.in yodel-${library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/yodel-${library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${in_component})
endfunction()
install_pkg_config(ev "event loop: descriptors, signals, timers" "" -pthread)
install_pkg_config(bufio "buffered streams, with TLS, on an event loop" "yodel-ev, openssl >= 3.0" "")
