// tests/gpu/facts/lookups.cpp — is what cuGetProcAddress answers the function that libcuda exports?
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <set>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

// "cuMemAlloc_v2_ptsz" -> "cuMemAlloc": look-ups are by the name without versions.
std::string plain(std::string name)
{
    for (const char* tail : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"})
        if (name.size() > std::string{tail}.size() &&
            name.rfind(tail) == name.size() - std::string{tail}.size())
            name.resize(name.size() - std::string{tail}.size());
    return name;
}

} // namespace

void tell_lookups(const std::vector<std::string>& names)
{
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    using Lookup = CUresult(const char*, void**, int, cuuint64_t);
    auto* const lookup =
        driver ? reinterpret_cast<Lookup*>(dlsym(driver, "cuGetProcAddress")) : nullptr;
    if (!lookup) {
        std::printf("no cuGetProcAddress\n");
        return;
    }
    std::map<void*, std::string> exported;
    std::set<std::string> asked, differs;
    for (const std::string& name : names) {
        asked.insert(plain(name));
        if (void* const address = dlsym(driver, name.c_str()))
            exported[address] += (exported[address].empty() ? "" : " = ") + name;
    }
    std::size_t answered = 0, same = 0;
    for (const std::string& name : asked) {
        for (int version = 2000; version <= 13000; version += 10) {
            for (cuuint64_t flags :
                 {0, 1, 2}) { // as compiled, the old default stream, one for each thread
                void* found = nullptr;
                if (lookup(name.c_str(), &found, version, flags) != CUDA_SUCCESS || !found)
                    continue;
                ++answered;
                if (exported.count(found) != 0)
                    ++same;
                else
                    differs.insert(name);
            }
        }
    }
    std::printf("%zu names, %zu exported functions among them; %zu look-ups answered, %zu by a "
                "function that is exported\n",
                asked.size(), exported.size(), answered, same);
    for (const std::string& name : differs)
        std::printf("not exported: %s\n", name.c_str());
    for (const auto& [address, name] : exported)
        if (name.find('=') != std::string::npos)
            std::printf("one function: %s\n", name.c_str());
}

} // namespace facts
