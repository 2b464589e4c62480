// interpose/audit/audit.cpp — the LD_AUDIT door, for libraries that look past a preload.
//
// A library opened with RTLD_DEEPBIND binds dlsym to libc and cu* to the driver, past every
// preloaded definition. The loader tells an LD_AUDIT library about each binding (rtld-audit(7));
// where the definition is libc's dlsym or the driver's and libvramscope.so has one of that name, we
// answer with that. It lives in a link namespace of its own, keeps no state but what la_objopen
// saw, and allocates nothing.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <link.h>

#include "tracker/capture/loader.hpp"

namespace {

// The cookie of a library. One that was loaded after ours when the program started has its link_map
// in this place.
enum Kind : std::uintptr_t {
    other,
    preload,
    dlsym_behind_preload,
    driver,
    libc,
    loader,
    last_kind = loader
};

Kind kind_of(const char* name)
{
    if (std::strcmp(name, "libvramscope.so") == 0)
        return preload;
    if (std::strncmp(name, "libcuda.so", 10) == 0)
        return driver;
    if (std::strcmp(name, "libc.so.6") == 0 || std::strcmp(name, "libdl.so.2") == 0)
        return libc;
    if (std::strncmp(name, "ld-linux", 8) == 0)
        return loader;
    return other;
}

std::atomic<link_map*> preloaded{nullptr};
std::atomic<bool> started{false}; // the program's own libraries are all there

bool defines_dlsym(const link_map& map)
{
    for (const char* name : {"dlsym", "dlvsym"})
        if (vramscope::capture::object_symbol(map.l_addr, map.l_ld, name))
            return true;
    return false;
}

bool may_be_ours(Kind definer, const char* symbol)
{
    if (definer == driver)
        return true;
    return definer == libc &&
           (std::strcmp(symbol, "dlsym") == 0 || std::strcmp(symbol, "dlvsym") == 0);
}

// Our function calls next what a library defines that was loaded after ours, and that asks for the
// one after it. Were that ours again, the two would call each other for ever. A library that the
// program opens later is not called so.
bool may_get_ours(std::uintptr_t referrer, const char* symbol)
{
    if (referrer <= last_kind)
        return referrer == other;
    const auto* map = reinterpret_cast<const link_map*>(referrer);
    return !vramscope::capture::object_symbol(map->l_addr, map->l_ld, symbol);
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Only bindings from the program's libraries to libc and the driver are of interest. A library that
// was loaded after ours and has a dlsym of its own is what ours calls next: were its libc replaced
// by ours, the two would call each other for ever.
[[gnu::visibility("default")]] unsigned la_objopen(link_map* map, Lmid_t space,
                                                   std::uintptr_t* cookie)
{
    if (space != LM_ID_BASE)
        return 0;
    Kind kind = kind_of(vramscope::capture::base_name(map->l_name ? map->l_name : ""));
    const bool after_ours = kind == other && preloaded.load(std::memory_order_acquire);
    if (after_ours && defines_dlsym(*map))
        kind = dlsym_behind_preload;
    if (kind != other || !after_ours || started.load(std::memory_order_acquire))
        *cookie = kind;
    if (kind == preload)
        preloaded.store(map, std::memory_order_release);
    switch (kind) {
    case libc:
    case driver:
        return LA_FLG_BINDTO;
    case other:
        return LA_FLG_BINDFROM;
    default:
        return 0;
    }
}

[[gnu::visibility("default")]] void la_preinit(std::uintptr_t*)
{
    started.store(true, std::memory_order_release);
}

[[gnu::visibility("default")]] std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned,
                                                           std::uintptr_t* referrer,
                                                           std::uintptr_t* definer, unsigned*,
                                                           const char* name)
{
    link_map* ours = preloaded.load(std::memory_order_acquire);
    if (!ours || !may_be_ours(static_cast<Kind>(*definer), name) || !may_get_ours(*referrer, name))
        return symbol->st_value;
    void* wrapper = vramscope::capture::object_symbol(ours->l_addr, ours->l_ld, name);
    return wrapper ? reinterpret_cast<std::uintptr_t>(wrapper) : symbol->st_value;
}
}
