// tracker/capture/loader.cpp — a look-up in the GNU hash table of a loaded object.
#include "tracker/capture/loader.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <sys/auxv.h>

#include "tracker/capture/glibc.hpp"

namespace vramscope::capture {
namespace {

struct DynamicTables {
    const ElfW(Sym) * symbols = nullptr;
    const char* strings = nullptr;
    const std::uint32_t* gnu_hash = nullptr;
    const ElfW(Half) * versions = nullptr;
};

[[gnu::cold]] DynamicTables read_dynamic(ElfW(Addr) bias, const ElfW(Dyn) * dynamic) noexcept
{
    DynamicTables tables;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        // glibc relocates these pointers in place, the vDSO's stay relative.
        const ElfW(Addr) pointer =
            dynamic->d_un.d_ptr < bias ? dynamic->d_un.d_ptr + bias : dynamic->d_un.d_ptr;
        const auto at = [pointer]<class T>(const T*& field) {
            field = reinterpret_cast<const T*>(pointer);
        };
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            at(tables.symbols);
            break;
        case DT_STRTAB:
            at(tables.strings);
            break;
        case DT_GNU_HASH:
            at(tables.gnu_hash);
            break;
        case DT_VERSYM:
            at(tables.versions);
            break;
        default:
            break;
        }
    }
    return tables;
}

std::uint32_t gnu_hash_of(const char* name) noexcept
{
    std::uint32_t hash = 5381;
    for (; *name; ++name)
        hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// Not strcmp: a sanitizer's runtime asks dlsym for the real one before its own strcmp works.
bool same(const char* one, const char* other) noexcept
{
    while (*one && *one == *other)
        ++one, ++other;
    return *one == *other;
}

// Its default version, else another; null: not defined there.
[[gnu::cold]] const ElfW(Sym) *
    find_symbol(ElfW(Addr) bias, const ElfW(Dyn) * dynamic, const char* name) noexcept
{
    const DynamicTables tables = read_dynamic(bias, dynamic);
    if (!tables.symbols || !tables.strings || !tables.gnu_hash)
        return nullptr;
    const std::uint32_t bucket_count = tables.gnu_hash[0];
    const std::uint32_t first_symbol = tables.gnu_hash[1];
    const std::uint32_t bloom_words = tables.gnu_hash[2];
    if (bucket_count == 0)
        return nullptr;
    const std::uint32_t* buckets =
        tables.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chains = buckets + bucket_count;
    const std::uint32_t hash = gnu_hash_of(name);
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first_symbol)
        return nullptr;
    constexpr ElfW(Half) kHiddenVersion = 0x8000;
    const ElfW(Sym)* found = nullptr;
    for (;; ++index) {
        const std::uint32_t chain = chains[index - first_symbol];
        const ElfW(Sym)& symbol = tables.symbols[index];
        if ((chain | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
            same(tables.strings + symbol.st_name, name)) {
            found = &symbol;
            if (!tables.versions || !(tables.versions[index] & kHiddenVersion))
                return found; // the default version
        }
        if (chain & 1)
            return found;
    }
}

// What the kernel loaded beside the program: musl's loader is its libc too.
[[gnu::cold]] void* symbol_of_interpreter(const char* name) noexcept
{
    const ElfW(Addr) base = ::getauxval(AT_BASE);
    const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* header = reinterpret_cast<const ElfW(Phdr)*>(base + (elf ? elf->e_phoff : 0));
    for (int i = 0; elf && i < elf->e_phnum; ++i)
        if (header[i].p_type == PT_DYNAMIC)
            return object_symbol(base, reinterpret_cast<const ElfW(Dyn)*>(base + header[i].p_vaddr),
                                 name);
    return nullptr;
}

} // namespace

const char* base_name(const char* path) noexcept
{
    const char* base = path;
    for (; *path; ++path)
        if (*path == '/')
            base = path + 1;
    return base;
}

void* object_symbol(ElfW(Addr) bias, const ElfW(Dyn) * dynamic, const char* name) noexcept
{
    const ElfW(Sym)* symbol = find_symbol(bias, dynamic, name);
    return symbol ? reinterpret_cast<void*>(bias + symbol->st_value) : nullptr;
}

void each_needed(ElfW(Addr) bias, const ElfW(Dyn) * dynamic,
                 void (*visit)(const char* name, void* data), void* data) noexcept
{
    const char* const names = read_dynamic(bias, dynamic).strings;
    for (; names && dynamic->d_tag != DT_NULL; ++dynamic)
        if (dynamic->d_tag == DT_NEEDED)
            visit(names + dynamic->d_un.d_val, data);
}

// It walks the loader's own list, which begins with what the program was started with, since
// dl_iterate_phdr may be intercepted.
void* libc_symbol(const char* name) noexcept
{
    if (!is_glibc()) [[unlikely]]
        return symbol_of_interpreter(name);
    for (const link_map* map = _r_debug.r_map; map; map = map->l_next) {
        const char* base = base_name(map->l_name);
        if (!same(base, "libc.so.6") && !same(base, "libdl.so.2"))
            continue;
        if (void* found = object_symbol(map->l_addr, map->l_ld, name))
            return found;
    }
    return nullptr;
}

void* loader_symbol(const char* name, std::size_t& bytes) noexcept
{
    for (const link_map* map = _r_debug.r_map; map; map = map->l_next)
        if (same(base_name(map->l_name), "ld-linux-x86-64.so.2"))
            if (const ElfW(Sym)* symbol = find_symbol(map->l_addr, map->l_ld, name)) {
                bytes = symbol->st_size;
                return reinterpret_cast<void*>(map->l_addr + symbol->st_value);
            }
    return nullptr;
}

void* loader_dlsym(void* handle, const char* name) noexcept
{
    using Dlsym = void* (*)(void*, const char*);
    static constinit std::atomic<Dlsym> libc_dlsym{nullptr};
    Dlsym function = libc_dlsym.load(std::memory_order_acquire);
    if (!function) {
        function = reinterpret_cast<Dlsym>(libc_symbol("dlsym"));
        libc_dlsym.store(function, std::memory_order_release);
    }
    return function ? function(handle, name) : nullptr;
}

void* loader_dlopen(const char* path, int flags) noexcept
{
    return ::dlopen(path, flags);
}

bool privileged() noexcept
{
    return ::getauxval(AT_SECURE) != 0;
}

} // namespace vramscope::capture
