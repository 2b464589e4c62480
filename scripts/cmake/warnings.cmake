# vramscope_warnings: the warnings every target of ours is built with.
#   -DVRAMSCOPE_WERROR=ON makes them errors, as the presets for developers and CI do. Never what a user builds: a newer
#   compiler or toolkit may warn of what is right.
option(VRAMSCOPE_WERROR "a warning is an error" OFF)
add_library(vramscope_warnings INTERFACE)
target_compile_options(vramscope_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef $<$<BOOL:${VRAMSCOPE_WERROR}>:-Werror>>)
# GCC 12 sees an overlap in its own std::string at -O3 (its bug 105651).
target_compile_options(vramscope_warnings INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# Clang's -Wconversion means signs too, GCC's does not; and Clang lacks GCC's attribute noipa.
target_compile_options(vramscope_warnings INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion -Wno-unknown-attributes>)
