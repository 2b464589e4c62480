// tools/simgpu/driver/base/older_driver.cpp — hides the names that came after the driver's version.
//
// VRAMSCOPE_SIM_CUDA makes this the driver of an older CUDA. cuGetProcAddress compares versions,
// but dlsym knows none: a program that tries cuCtxGetDevice_v2 first would find it. So the entries
// of newer names are emptied in this library's symbol table, when it is loaded and before anybody
// can ask. A program that is linked with such a name does not start, as with an older driver.
#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/simgpu/driver/base/cuda.hpp"
#include "tools/simgpu/driver/base/lookup.hpp"
#include "tools/simgpu/driver/base/settings.hpp"

namespace simgpu {
namespace {

// The symbol table is mapped read-only, in pages without code (-z separate-code).
bool make_writable(const ElfW(Sym) & symbol)
{
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(&symbol) & ~(page - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(&symbol + 1);
    return mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE) == 0;
}

void hide(void* function)
{
    Dl_info info{};
    ElfW(Sym)* symbol = nullptr;
    if (!dladdr1(function, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || !symbol ||
        !make_writable(*symbol))
        return;
    symbol->st_value = 0;
    symbol->st_shndx = SHN_UNDEF;
}

[[gnu::constructor]] void hide_newer_names()
{
    if (driver_version() >= CUDA_VERSION)
        return;
    std::map<void*, int> appeared; // a form may stand in several rows
    for (const LookupRow* row = lookup_rows; row != lookup_rows + lookup_row_count; ++row) {
        const auto [known, is_new] = appeared.emplace(row->function, row->version);
        known->second = std::min(known->second, row->version);
    }
    for (const auto& [function, version] : appeared)
        if (version > driver_version())
            hide(function);
}

} // namespace

int driver_version()
{
    static const int version = cuda_version(CUDA_VERSION);
    return version;
}

} // namespace simgpu
