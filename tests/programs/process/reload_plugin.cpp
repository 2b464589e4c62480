// tests/programs/process/reload_plugin.cpp — a plugin that leaves a block.
//
// It is built twice, and only the function's name differs.
#include "tests/programs/driver_program.hpp"

[[gnu::noinline]] static void RELOAD_NAME()
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, RELOAD_BYTES)); // MARK reload
}

extern "C" int plugin_run(void)
{
    primary_context();
    RELOAD_NAME();
    return 0;
}
