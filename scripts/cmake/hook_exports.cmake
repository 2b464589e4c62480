# vramscope_hook_exports(TABLE MAP LIST): what libvramscope.so exports is the hook table and a few
# fixed names; the linker's version script and the list that check_exports.py compares with are made
# from them.
function(vramscope_hook_exports table map list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} rows REGEX "^VRAMSCOPE_HOOK\\(")
  set(names dlsym dlvsym dlopen dlclose _exit _Exit InitializeInjectionNvtx2
    _ZN2at15sequence_number17get_and_incrementEv _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
    _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE _ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE
    vramscope_push vramscope_pop vramscope_mark vramscope_begin_test vramscope_end_test
    vramscope_current_device vramscope_device_headroom vramscope_pool_empty_cache vramscope_pool_reset_peak
    vramscope_pool_stats vramscope_pool_take_peak vramscope_preload_version vramscope_bypassed
    vramscope_torch_take_peak
    InitializeInjectionNvtxExtension)
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^VRAMSCOPE_HOOK\\(([A-Za-z0-9_]+),.*" "\\1" name "${row}")
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  list(JOIN names "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n")
  list(JOIN names "; " globals)
  file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${globals}; local: *; };\n")
endfunction()
