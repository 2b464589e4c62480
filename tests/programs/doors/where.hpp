// tests/programs/doors/where.hpp — names an address as library:symbol.
//
// Programs print with it what a look-up gave them.
#pragma once

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

inline const char* where(void* address)
{
    static thread_local char text[256];
    Dl_info info{};
    if (!address)
        return "null";
    if (!dladdr(address, &info) || !info.dli_fname)
        return "nowhere";
    const char* slash = std::strrchr(info.dli_fname, '/');
    std::snprintf(text, sizeof text, "%s:%s%s", slash ? slash + 1 : info.dli_fname,
                  info.dli_sname ? info.dli_sname : "?", info.dli_saddr == address ? "" : "+");
    return text;
}
