// tests/programs/doors/parity.hpp — prints the answer to each look-up of each name.
//
// The look-ups are made from the object that includes this.
//
// Not inline across objects: dlsym tells the caller by the address it returns to.
#pragma once

#include <dlfcn.h>

#include "tests/programs/doors/where.hpp"

namespace {

constexpr const char* kNames[] = {
    "cuInit",
    "cuMemAlloc_v2",
    "cuMemFree",
    "cuGetProcAddress_v2", // hooked
    "cuDeviceGetCount",
    "cuStreamQuery", // a function of the driver that is not hooked
    "cuForeign",
    "cuMemHostAlloc",
    "cuArrayDestroy", // from another library, which has no right to the last two names
    "malloc",
    "dlsym",
    "dlvsym",
    "dlclose",
    "_exit",
    "plain_foreign",
    "no_such_symbol",
};

[[maybe_unused]] void tell(const char* from, const char* how, const char* handle, const char* name,
                           void* found)
{
    const char* error = dlerror();
    std::printf("%s %s %s %s %s %s\n", from, how, handle, name, where(found),
                error ? "error" : "-");
}

[[maybe_unused]] void look_up_all(const char* from, void* driver, void* foreign)
{
    const struct {
        const char* name;
        void* handle;
    } kHandles[] = {
        {"next", RTLD_NEXT}, {"default", RTLD_DEFAULT}, {"program", dlopen(nullptr, RTLD_NOW)},
        {"driver", driver},  {"foreign", foreign},
    };
    dlerror();
    for (const auto& handle : kHandles) {
        if (!handle.handle && handle.handle != RTLD_DEFAULT)
            continue;
        if (!handle.handle && std::strcmp(handle.name, "default") != 0)
            continue;
        for (const char* name : kNames) {
            void* volatile found =
                dlsym(handle.handle, name); // volatile makes it a call, not a jump
            tell(from, "dlsym", handle.name, name, found);
            found = dlsym(handle.handle, name);
            tell(from, "again", handle.name, name, found);
            found = dlvsym(handle.handle, name, "GLIBC_2.2.5");
            tell(from, "dlvsym", handle.name, name, found);
        }
    }
}

} // namespace
