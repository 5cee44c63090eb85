# The Debian package, for `make package`, which builds with the prefix /usr and runs CPack.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME yodel)
set(CPACK_PACKAGE_CONTACT "The yodel authors <authors@yodel.example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "client that checks and times every echo, load tool, echo server")
set(CPACK_PACKAGE_DESCRIPTION "\
yodel talks to line- and frame-based services over TCP, TLS, UDP, WebSocket
and Unix-domain sockets, on a full screen or as a filter. It times every
reply, checks its bytes, and reports each failure in one sentence.
.
yodel-load measures such services on many connections, at planned rates, and
judges every reply.
.
yodeld is an echo server with faults on demand. Its systemd unit is installed,
but neither enabled nor started.")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_STRIP_PROGRAM ${CMAKE_STRIP})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/${script})
endforeach()
# Arranges the files as Debian requires, which CPack itself does not.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/layout.cmake)
include(CPack)
