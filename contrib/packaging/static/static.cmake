# Programs without shared libraries, for `make static`: alone.cpp contains the parts that the
# system would provide, among them the descriptions of these terminals.
set(terminals linux rxvt rxvt-unicode-256color screen screen-256color tmux tmux-256color vt100 vt220 xterm
  xterm-256color)

set(described)
foreach(terminal ${terminals})
  string(SUBSTRING ${terminal} 0 1 letter)
  find_file(description_of_${terminal} ${letter}/${terminal}
    PATHS /etc/terminfo /lib/terminfo /usr/share/terminfo NO_DEFAULT_PATH)
  if(description_of_${terminal})
    file(READ ${description_of_${terminal}} bytes HEX)
    string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
    string(APPEND described "Description{\"${terminal}\"sv, \"${bytes}\"sv},\n")
  elseif(terminal STREQUAL xterm)
    message(FATAL_ERROR "no description of xterm: ncurses-base is missing")
  endif()
endforeach()
file(CONFIGURE OUTPUT terminals.inc CONTENT "${described}" @ONLY)

set_source_files_properties(contrib/packaging/static/alone.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

function(link_statically program)
  target_sources(${program} PRIVATE contrib/packaging/static/alone.cpp)
  target_include_directories(${program} PRIVATE ${PROJECT_BINARY_DIR})
  target_link_options(${program} PRIVATE -static-pie -Wl,--gc-sections)
endfunction()

# The programs contain parts of these packages. Installs their licences beside the manuals, and the
# common licences to which they refer by a file name.
include(GNUInstallDirs)
set(licences)
foreach(archive libssl.a libncursesw.a libtinfo.a libc.a libstdc++.a libgcc.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${archive}
    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(path ${path} REALPATH)
  execute_process(COMMAND dpkg-query -S ${path} OUTPUT_VARIABLE package)
  string(REGEX REPLACE ":.*" "" package "${package}")
  if(NOT EXISTS "/usr/share/doc/${package}/copyright")
    message(FATAL_ERROR "no licence of ${archive}: it belongs to no package of Debian")
  endif()
  get_filename_component(licence /usr/share/doc/${package}/copyright REALPATH)
  file(STRINGS ${licence} quoting REGEX /usr/share/common-licenses/)
  string(REGEX MATCHALL "/usr/share/common-licenses/[-A-Za-z0-9.]*[A-Za-z0-9]" quoted "${quoting}")
  foreach(each ${quoted})
    get_filename_component(common ${each} REALPATH)
    get_filename_component(name ${each} NAME)
    list(APPEND licences ${name}=${common})
  endforeach()
  list(APPEND licences ${package}=${licence})
endforeach()
list(REMOVE_DUPLICATES licences)
foreach(each ${licences})
  string(REGEX MATCH "^([^=]*)=(.*)$" each ${each})
  install(FILES ${CMAKE_MATCH_2} RENAME ${CMAKE_MATCH_1} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences)
endforeach()
