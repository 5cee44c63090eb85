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
