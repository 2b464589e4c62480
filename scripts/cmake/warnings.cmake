# vramscope_warnings: the warnings every target of ours is built with.
add_library(vramscope_warnings INTERFACE)
target_compile_options(vramscope_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror>)
