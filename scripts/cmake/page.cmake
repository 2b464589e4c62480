# vramscope_page(TARGET): adds the HTML page to a target, built from report/page/web by node; without node, an empty one.
#
# What the page needs comes by npm, in the versions and with the checksums of package-lock.json, into the build folder.
# VRAMSCOPE_WHY_NO_PAGE in the cache then says why there is none; empty: there is one.
set(VRAMSCOPE_HTML AUTO CACHE STRING "reports as HTML pages, which node and npm build: AUTO (where they can), ON, OFF")
set_property(CACHE VRAMSCOPE_HTML PROPERTY STRINGS AUTO ON OFF)

# Sets `problem` to why there can be no page, empty: there can.
function(vramscope_page_modules web modules)
  set(problem "" PARENT_SCOPE)
  find_program(VRAMSCOPE_NODE node)
  find_program(VRAMSCOPE_NPM npm)
  mark_as_advanced(VRAMSCOPE_NODE VRAMSCOPE_NPM)
  if(NOT VRAMSCOPE_NODE OR NOT VRAMSCOPE_NPM)
    set(missing node)
    if(VRAMSCOPE_NODE)
      set(missing npm)
    endif()
    set(problem "there is no ${missing}" PARENT_SCOPE)
    return()
  endif()
  file(SHA256 ${web}/package-lock.json wanted)
  set(installed none)
  if(EXISTS ${modules}/installed)
    file(READ ${modules}/installed installed)
  endif()
  if(installed STREQUAL wanted)
    return()
  endif()
  message(STATUS "HTML pages: npm installs what they are built with")
  file(COPY ${web}/package.json ${web}/package-lock.json DESTINATION ${modules})
  execute_process(
    COMMAND ${VRAMSCOPE_NPM} ci --silent --no-audit --no-fund --ignore-scripts --engine-strict --prefer-offline
            --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=20000
    WORKING_DIRECTORY ${modules} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said TIMEOUT 120)
  if(status EQUAL 0)
    file(WRITE ${modules}/installed ${wanted})
  else()
    set(problem "npm could not install what they are built with (npm ci: ${status})" PARENT_SCOPE)
  endif()
endfunction()

function(vramscope_page target)
  set(web ${PROJECT_SOURCE_DIR}/report/page/web)
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/page)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_template.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
  set(problem "VRAMSCOPE_HTML is OFF")
  if(NOT VRAMSCOPE_HTML STREQUAL "OFF")
    vramscope_page_modules(${web} ${modules})
  endif()
  set(VRAMSCOPE_WHY_NO_PAGE "${problem}" CACHE INTERNAL "")
  if(problem AND VRAMSCOPE_HTML STREQUAL "ON")
    message(FATAL_ERROR "VRAMSCOPE_HTML is ON, but ${problem}")
  elseif(problem)
    message(STATUS "HTML pages: left out, as ${problem}; all else works")
    set(none ${PROJECT_SOURCE_DIR}/report/page/none/template.cpp)
    target_sources(${target} PRIVATE ${none})
    set_property(SOURCE ${none} APPEND PROPERTY COMPILE_DEFINITIONS VRAMSCOPE_WHY_NO_PAGE="${problem}")
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${VRAMSCOPE_NODE} ${web}/build.mjs ${modules} ${source}
    DEPENDS ${web}/build.mjs ${sources} ${modules}/installed
    COMMENT "Bundling the HTML page" VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
