// tests/gpu/facts/injected.cpp — a library that CUDA_INJECTION64_PATH names: from where the driver
// calls it, and whose functions it finds.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>

namespace {

const char* library_of(void* address)
{
    Dl_info found{};
    if (dladdr(address, &found) == 0 || !found.dli_fname)
        return "?";
    const char* base = std::strrchr(found.dli_fname, '/');
    return base ? base + 1 : found.dli_fname;
}

} // namespace

extern "C" int InitializeInjection()
{
    void* frames[64];
    const int depth = backtrace(frames, 64);
    std::fprintf(stderr, "injected, called from");
    const char* last = "";
    for (int i = 1; i < depth; ++i) {
        const char* library = library_of(frames[i]);
        if (std::strcmp(library, last) != 0)
            std::fprintf(stderr, " <- %s", library);
        last = library;
    }
    void* const found = dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
    std::fprintf(stderr, "; cuMemAlloc_v2 is %s's\n", found ? library_of(found) : "nobody");
    return 1;
}
