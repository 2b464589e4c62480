// tracker/capture/loader.cpp — a look-up in the GNU hash table of a loaded object.
#include "tracker/capture/loader.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <sys/auxv.h>

namespace vramscope::capture {
namespace {

struct DynamicTables {
    const ElfW(Sym) * symbols = nullptr;
    const char* strings = nullptr;
    const std::uint32_t* gnu_hash = nullptr;
    const ElfW(Half) * versions = nullptr;
};

DynamicTables read_dynamic(ElfW(Addr) bias, const ElfW(Dyn) * dynamic) noexcept
{
    DynamicTables tables;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
        // glibc relocates these pointers in place, the vDSO's stay relative.
        const ElfW(Addr) pointer = dynamic->d_un.d_ptr < bias ? dynamic->d_un.d_ptr + bias
                                                               : dynamic->d_un.d_ptr;
        const auto at = [pointer]<class T>(const T*& field) { field = reinterpret_cast<const T*>(pointer); };
        switch (dynamic->d_tag) {
        case DT_SYMTAB: at(tables.symbols); break;
        case DT_STRTAB: at(tables.strings); break;
        case DT_GNU_HASH: at(tables.gnu_hash); break;
        case DT_VERSYM: at(tables.versions); break;
        default: break;
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

struct LibcSearch {
    const char* name;
    void* found;
};

int search_libc(dl_phdr_info* info, std::size_t, void* data)
{
    auto* search = static_cast<LibcSearch*>(data);
    const char* slash = info->dlpi_name ? std::strrchr(info->dlpi_name, '/') : nullptr;
    const char* base = slash ? slash + 1 : "";
    if (std::strcmp(base, "libc.so.6") != 0 && std::strcmp(base, "libdl.so.2") != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            search->found = object_symbol(info->dlpi_addr,
                reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                search->name);
    return search->found != nullptr;
}

}  // namespace

void* object_symbol(ElfW(Addr) bias, const ElfW(Dyn) * dynamic, const char* name) noexcept
{
    const DynamicTables tables = read_dynamic(bias, dynamic);
    if (!tables.symbols || !tables.strings || !tables.gnu_hash)
        return nullptr;
    const std::uint32_t bucket_count = tables.gnu_hash[0];
    const std::uint32_t first_symbol = tables.gnu_hash[1];
    const std::uint32_t bloom_words = tables.gnu_hash[2];
    if (bucket_count == 0)
        return nullptr;
    const std::uint32_t* buckets = tables.gnu_hash + 4
        + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chains = buckets + bucket_count;
    const std::uint32_t hash = gnu_hash_of(name);
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first_symbol)
        return nullptr;
    constexpr ElfW(Half) kHiddenVersion = 0x8000;
    void* found = nullptr;
    for (;; ++index) {
        const std::uint32_t chain = chains[index - first_symbol];
        const ElfW(Sym)& symbol = tables.symbols[index];
        if ((chain | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF
            && std::strcmp(tables.strings + symbol.st_name, name) == 0) {
            found = reinterpret_cast<void*>(bias + symbol.st_value);
            if (!tables.versions || !(tables.versions[index] & kHiddenVersion))
                return found;  // the default version
        }
        if (chain & 1)
            return found;
    }
}

void* libc_symbol(const char* name) noexcept
{
    LibcSearch search { name, nullptr };
    ::dl_iterate_phdr(&search_libc, &search);
    return search.found;
}

void* loader_dlsym(void* handle, const char* name) noexcept
{
    using Dlsym = void* (*)(void*, const char*);
    static constinit std::atomic<Dlsym> libc_dlsym { nullptr };
    Dlsym function = libc_dlsym.load(std::memory_order_acquire);
    if (!function) {
        function = reinterpret_cast<Dlsym>(libc_symbol("dlsym"));
        libc_dlsym.store(function, std::memory_order_release);
    }
    return function ? function(handle, name) : nullptr;
}

void* loader_dlopen(const char* path, int flags) noexcept { return ::dlopen(path, flags); }

bool privileged() noexcept { return ::getauxval(AT_SECURE) != 0; }

}  // namespace vramscope::capture
