# Read by cpack for each kind of package, before it makes anything: says what this one lacks.
if(CPACK_VRAMSCOPE_WHY_NO_PAGE)
  message(FATAL_ERROR "This build has no page for --html, as ${CPACK_VRAMSCOPE_WHY_NO_PAGE}, and a package has one: "
    "run ./scripts/setup, configure and build again. Without a page by wish: cmake -DVRAMSCOPE_HTML=OFF")
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(wanted file:file dpkg-shlibdeps:dpkg-dev)
    string(REGEX MATCH "(.*):(.*)" wanted ${wanted})
    find_program(VRAMSCOPE_PACKS_BY_${CMAKE_MATCH_1} ${CMAKE_MATCH_1})
    if(NOT VRAMSCOPE_PACKS_BY_${CMAKE_MATCH_1})
      message(FATAL_ERROR "A .deb is made with ${CMAKE_MATCH_1}, which is not here: apt-get install ${CMAKE_MATCH_2}. "
        "Without it: cpack -G TGZ")
    endif()
  endforeach()
endif()
