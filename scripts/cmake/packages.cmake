# What an installation has beside the programs, and packages of it: cpack in the build's folder
# makes a tarball, a .deb and, where rpmbuild is, an .rpm. They work from any prefix: the command
# finds its libraries from where it lies itself.
set(manuals ${CMAKE_BINARY_DIR}/share)
add_custom_command(OUTPUT ${manuals}/man/man1/vramscope.1
  COMMAND ${CMAKE_COMMAND} -DCOMMAND=$<TARGET_FILE:vramscope> -DFOLDER=${manuals}
          -P ${PROJECT_SOURCE_DIR}/scripts/cmake/write_manuals.cmake
  DEPENDS vramscope ${PROJECT_SOURCE_DIR}/scripts/cmake/write_manuals.cmake VERBATIM)
add_custom_target(manuals ALL DEPENDS ${manuals}/man/man1/vramscope.1)
install(DIRECTORY ${manuals}/ DESTINATION ${CMAKE_INSTALL_DATADIR})

include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/vramscope)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/vramscope-config.cmake.in
  ${CMAKE_BINARY_DIR}/vramscope-config.cmake INSTALL_DESTINATION ${cmake_folder}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/vramscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/vramscope-config.cmake ${CMAKE_BINARY_DIR}/vramscope-config-version.cmake
  DESTINATION ${cmake_folder})
configure_file(${CMAKE_CURRENT_LIST_DIR}/vramscope.pc.in ${CMAKE_BINARY_DIR}/vramscope.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/vramscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The README's chapters lie beside what they describe; an installation has them in the same places.
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  interpose/*.md report/*.md report/page/page.png scripts/*.md tests/*.md tools/*.md tracker/*.md
  tools/ci/*.yml tools/monitoring/*.yml tools/monitoring/*.json tools/containers/Dockerfile tools/containers/*.yaml)
list(FILTER pages EXCLUDE REGEX "DECISIONS[.]md$|node_modules")
foreach(page README.md CONTRIBUTING.md ${pages})
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_wants.cmake)
if(NOT VRAMSCOPE_HTML STREQUAL "OFF")  # which asks for packages without the page
  set(CPACK_VRAMSCOPE_WHY_NO_PAGE "${VRAMSCOPE_WHY_NO_PAGE}")
endif()
set(CPACK_GENERATOR DEB TGZ)  # first the one that wants most
find_program(VRAMSCOPE_RPMBUILD rpmbuild)
if(VRAMSCOPE_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()
set(CPACK_PACKAGE_CONTACT "the developers of vramscope <developers@vramscope.invalid>")  # no address is known
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "vramscope traces any CUDA program as it is and tells which of its lines
leak memory of the GPU, what its peak was made of, and whether a change made
it worse. It has a simulated GPU for machines without one.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libsqlite3-0")  # export --to sqlite loads it when it is asked for
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/files.cmake)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/lib/cmake /usr/lib/pkgconfig)
include(CPack)
