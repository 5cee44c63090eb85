# Moves, writes and compresses files of the package as Debian requires. CPack runs this once all
# files are installed below CPACK_TEMPORARY_DIRECTORY.
set(share ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
set(doc ${share}/doc/${CPACK_PACKAGE_NAME})

# Debian's zsh does not look into site-functions.
file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# In each package of Debian, the file "copyright" contains the licence.
file(RENAME ${doc}/LICENSE ${doc}/copyright)
file(READ ${doc}/copyright licence)
string(REGEX REPLACE "^ISC License\n\nCopyright \\(c\\) ([^\n]*)\n\n" "" terms "${licence}")
set(holder ${CMAKE_MATCH_1})
string(REGEX REPLACE "\n+$" "" terms "${terms}")
string(REPLACE "\n\n" "\n.\n" terms "${terms}")
string(REPLACE "\n" "\n " terms "${terms}")
file(WRITE ${doc}/copyright
  "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
  "Upstream-Name: ${CPACK_PACKAGE_NAME}\n\n"
  "Files: *\nCopyright: ${holder}\nLicense: ISC\n ${terms}\n")

# One file lists the changes of the programs, another those of the package.
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH
file(WRITE ${doc}/changelog.Debian
  "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
  "  * Version ${CPACK_PACKAGE_VERSION}, whose changes are in changelog.gz.\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${ARGV}: ${failed}")
  endif()
endfunction()
file(GLOB compressed ${share}/man/man?/* ${doc}/changelog*)
run(gzip -9n ${compressed})
file(GLOB programs ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/bin/*)
run(${CPACK_STRIP_PROGRAM} --remove-section=.comment --remove-section=.note ${programs})
