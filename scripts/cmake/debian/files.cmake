# Read by cpack once the files of a package lie where it packs them: what Debian's policy wants of them
# that an installation has otherwise.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${share}/doc/${CPACK_PACKAGE_NAME})
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright)  # the licence's text is on each Debian
file(MAKE_DIRECTORY ${share}/lintian/overrides)
file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/lintian-overrides ${share}/lintian/overrides/${CPACK_PACKAGE_NAME})
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What is new is in ${CPACK_PACKAGE_NAME}/tools/CHANGES.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip --best --no-name --force ${doc}/changelog ${pages} COMMAND_ERROR_IS_FATAL ANY)
