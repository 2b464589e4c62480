# vramscope_unity(TARGET FILES): compiles so many files of a target as one. Most of a file's time
# goes to headers that the next file includes too. Names in anonymous namespaces must then differ
# from file to file.
#   -DVRAMSCOPE_UNITY=OFF compiles each alone, which suits clangd; scripts/check_alone.py does so, to find the include of ours
#   that is missing. The standard library's largest headers are then parsed once for each target.
option(VRAMSCOPE_UNITY "compile several files as one where that is quicker" ON)

set(VRAMSCOPE_LARGE_HEADERS <algorithm> <filesystem> <functional> <map> <sstream> <string> <unordered_map> <vector>)

# Compile options for what would take GCC more than 600 MB: what it has done with is thrown away earlier. The first take
# a fifth more of its time, the others, for a few files alone, twice as much.
set(VRAMSCOPE_SAVING "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=30>")
set(VRAMSCOPE_SPARING "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-expand=10;--param=ggc-min-heapsize=32768>")

function(vramscope_unity target files)
  if(VRAMSCOPE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    # GCC takes an anonymous namespace in any included file for a header's.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    return()
  endif()
  get_target_property(precompiled ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(NOT precompiled)
    target_precompile_headers(${target} PRIVATE ${VRAMSCOPE_LARGE_HEADERS})
  endif()
endfunction()
