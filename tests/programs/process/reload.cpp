// tests/programs/process/reload.cpp — opens a plugin, and then another in its place.
//
// Usage: reload PLUGIN OTHER_PLUGIN. Says whether the second took the addresses of the first.
#include <cstdio>
#include <dlfcn.h>

namespace {

void* use(const char* plugin)
{
    void* const handle = dlopen(plugin, RTLD_NOW);
    const auto run = reinterpret_cast<int (*)()>(handle ? dlsym(handle, "plugin_run") : nullptr);
    if (!run || run() != 0)
        return nullptr;
    dlclose(handle);
    return reinterpret_cast<void*>(run);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    for (int round = 0; round < 3; ++round) {
        void* const first = use(argv[1]);
        void* const second = use(argv[2]);
        if (!first || !second)
            return 4;
        if (round == 0)
            std::printf("%s\n", first == second ? "same address" : "another address");
    }
    return 0;
}
