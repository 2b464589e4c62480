# VRAMSCOPE_SANITIZE instruments the static libraries and the unit tests. The preloaded library and
# the end-to-end tests are left out of such a build: a sanitizer's runtime must come first in a
# program. UBSan does not look at each pointer for null, which AddressSanitizer finds too.
if(VRAMSCOPE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(VRAMSCOPE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(VRAMSCOPE_SANITIZE)
  message(FATAL_ERROR "VRAMSCOPE_SANITIZE must be empty, address or thread, not '${VRAMSCOPE_SANITIZE}'")
endif()
# Once a sanitizer rearranges the code, GCC warns of what its flow analysis no longer sees; dev
# builds keep these warnings. Less optimisation and debug information: lines are enough, and it
# compiles in half the time.
if(VRAMSCOPE_SANITIZE)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-format-truncation>)
  add_compile_options(-O1 -g1)
endif()
