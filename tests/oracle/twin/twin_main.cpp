// tests/oracle/twin/twin_main.cpp — leaks in functions of all kinds, each of a
// size of its own.
#include <cstring>
#include <thread>

#include "tests/oracle/twin/memory.hpp"

namespace shop {
struct Widget {
    TWIN_FRAME static void make(int bytes)
    {
        lose(static_cast<std::size_t>(bytes));
        TWIN_END;
    }
};
template <typename Thing>
struct Box {
    TWIN_FRAME static void fill(Thing bytes)
    {
        lose(static_cast<std::size_t>(bytes));
        TWIN_END;
    }
};
} // namespace shop

namespace {
TWIN_FRAME void hidden_leak()
{
    lose(1004);
    TWIN_END;
}
} // namespace

extern "C" TWIN_FRAME void c_leak()
{
    lose(1005);
    TWIN_END;
}

TWIN_FRAME void plain_leak()
{
    lose(1001);
    TWIN_END;
}

TWIN_FRAME void inner_leaf(const char* name)
{
    lose(1006 + std::strlen(name));
    TWIN_END;
}

TWIN_FRAME void outer_caller()
{
    inner_leaf("");
    TWIN_END;
}

TWIN_FRAME void CamelCaseLeak()
{
    lose(1010);
    TWIN_END;
}

TWIN_FRAME void all_leaks()
{
    plain_leak();
    for (int i = 0; i < 3; ++i)
        shop::Widget::make(1002);
    shop::Box<long>::fill(1003);
    hidden_leak();
    c_leak();
    outer_caller();
    inner_leaf("x");
    CamelCaseLeak();
    leaks_of_another_file();
    plugin_leak();
    TWIN_END;
}

// In a thread that is gone at the end: nothing of its stack and registers keeps
// a pointer.
int main()
{
#ifndef TWIN_HOST
    CUdevice device;
    CUcontext context;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    std::thread([context] {
        cuCtxSetCurrent(context);
        all_leaks();
    }).join();
#else
    std::thread([] { all_leaks(); }).join();
#endif
}
