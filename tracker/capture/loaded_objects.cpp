// tracker/capture/loaded_objects.cpp — whose lock it is, the list without it, ranges.
#include "tracker/capture/loaded_objects.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loader.hpp"

namespace vramscope::capture {
namespace {

// The lock has no name outside of glibc. It is the mutex in the loader's data that a thread holds
// inside dl_iterate_phdr and not after it. Where it is not found, the loader is trusted.
constinit pthread_mutex_t never_held = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<pthread_mutex_t*> list_lock{&never_held};

int owner_of(pthread_mutex_t& mutex) noexcept
{
    return std::atomic_ref(mutex.__data.__owner).load(std::memory_order_relaxed);
}

struct LockSearch {
    static constexpr std::size_t kMost = 4;
    pthread_mutex_t* held[kMost];
    std::size_t count;
    int self;

    bool holds(pthread_mutex_t& mutex) const noexcept
    {
        return owner_of(mutex) == self && mutex.__data.__lock != 0 && mutex.__data.__count != 0 &&
               mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
    }
};

[[gnu::cold]] int find_held(dl_phdr_info*, std::size_t, void* data)
{
    auto& search = *static_cast<LockSearch*>(data);
    std::size_t bytes = 0;
    auto* const begin = static_cast<char*>(loader_symbol("_rtld_global", bytes));
    for (std::size_t at = 0; begin && at + sizeof(pthread_mutex_t) <= bytes; at += alignof(long)) {
        auto* const mutex = reinterpret_cast<pthread_mutex_t*>(begin + at);
        if (search.holds(*mutex) && search.count < LockSearch::kMost)
            search.held[search.count++] = mutex;
    }
    return 1;
}

// While the program starts: in the child of a fork it is too late.
[[gnu::constructor]] void find_list_lock()
{
    if (!is_glibc())
        return;
    LockSearch search{};
    search.self = static_cast<int>(::syscall(SYS_gettid));
    ::dl_iterate_phdr(&find_held, &search);
    for (std::size_t i = 0; i < search.count; ++i)
        if (!search.holds(*search.held[i]))
            list_lock.store(search.held[i], std::memory_order_release);
}

constexpr std::size_t kMostHeaders = 64;

// What a thread of the parent was unloading may be gone already.
bool read_headers(const link_map& map, ElfW(Phdr) (&headers)[kMostHeaders],
                  dl_phdr_info& info) noexcept
{
    ElfW(Ehdr) elf;
    if (!read_carefully(map.l_addr, &elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_phnum > kMostHeaders ||
        !read_carefully(map.l_addr + elf.e_phoff, headers, elf.e_phnum))
        return false;
    info.dlpi_phdr = headers;
    info.dlpi_phnum = elf.e_phnum;
    return true;
}

int walk_without_lock(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) noexcept
{
    ElfW(Phdr) headers[kMostHeaders];
    for (const link_map* map = _r_debug.r_map; map; map = map->l_next) {
        dl_phdr_info info{};
        info.dlpi_addr = map->l_addr;
        info.dlpi_name = map->l_name;
        info.dlpi_adds = 1;
        info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
        info.dlpi_phnum = static_cast<ElfW(Half)>(::getauxval(AT_PHNUM));
        if (map != _r_debug.r_map && !read_headers(*map, headers, info))
            continue;
        if (const int result = visit(&info, sizeof info, data))
            return result;
    }
    return 0;
}

bool lies_in_segment(const dl_phdr_info& info, std::uintptr_t address, ElfW(Word) type,
                     ElfW(Word) flags) noexcept
{
    const auto at = address - info.dlpi_addr;
    return std::ranges::any_of(segments_of(info), [=](const ElfW(Phdr) & segment) {
        return segment.p_type == type && (segment.p_flags & flags) == flags &&
               at - segment.p_vaddr < segment.p_memsz;
    });
}

} // namespace

bool objects_locked_for_ever() noexcept
{
    const int owner = owner_of(*list_lock.load(std::memory_order_acquire));
    if (owner == 0)
        return false;
    const int saved_errno = errno;
    const bool dead = ::syscall(SYS_tgkill, ::getpid(), owner, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return dead;
}

int each_object(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) noexcept
{
    return objects_locked_for_ever() ? walk_without_lock(visit, data)
                                     : ::dl_iterate_phdr(visit, data);
}

LoadedRange loaded_range(const dl_phdr_info& info) noexcept
{
    LoadedRange range{UINTPTR_MAX, 0};
    for (const ElfW(Phdr) & segment : segments_of(info)) {
        if (segment.p_type != PT_LOAD)
            continue;
        range.first = std::min(range.first, info.dlpi_addr + segment.p_vaddr);
        range.end = std::max(range.end, info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    return range;
}

bool holds(const dl_phdr_info& info, std::uintptr_t address) noexcept
{
    return lies_in_segment(info, address, PT_LOAD, 0);
}

bool is_writable(const dl_phdr_info& info, std::uintptr_t address) noexcept
{
    return lies_in_segment(info, address, PT_LOAD, PF_W) &&
           !lies_in_segment(info, address, PT_GNU_RELRO, 0);
}

} // namespace vramscope::capture
