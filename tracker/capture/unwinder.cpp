// tracker/capture/unwinder.cpp — libunwind by a private dlopen, and glibc's backtrace without it.
#include "tracker/capture/unwinder.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <iterator>
#include <link.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/signals.hpp"

namespace vramscope::capture {
namespace {

using Backtrace = int (*)(void**, int);

// Our own frames between the hook and the unwinder's first entry, with room to spare.
constexpr std::size_t kOwnFrames = 12;

std::atomic<Unwinder> unwinder{Unwinder::none};
std::atomic<Backtrace> libunwind_backtrace{nullptr};

// libunwind tests whether memory is readable with a pipe that it opened once: where a frame has no
// unwind table it reads a byte from one end and writes one to the other. A program that closed all
// descriptors and opened files of its own has files there by now.
struct Pipe {
    int ends[2] = {-1, -1};
    ino_t inode = 0;
};
Pipe libunwind_pipe;

bool is_end(int descriptor, int access, ino_t& inode) noexcept
{
    struct stat status;
    if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode) ||
        (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != access)
        return false;
    inode = status.st_ino;
    return true;
}

// Neither a pointer's halves nor a number of 64 bits look like two of them: the system is asked of
// few others.
bool may_be_descriptors(const int* pair, int most) noexcept
{
    return std::min(pair[0], pair[1]) > STDERR_FILENO && std::max(pair[0], pair[1]) < most &&
           pair[0] != pair[1];
}

// Its descriptors are in a static array that has no name outside: two numbers that are the ends
// of one pipe.
int find_pipe(dl_phdr_info* info, std::size_t, void* code)
{
    if (!holds(*info, reinterpret_cast<std::uintptr_t>(code)))
        return 0;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
    for (const ElfW(Phdr) & segment : segments_of(*info)) {
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W))
            continue;
        const auto* at = reinterpret_cast<const int*>((info->dlpi_addr + segment.p_vaddr + 3) &
                                                      ~std::uintptr_t{3});
        const auto* end =
            reinterpret_cast<const int*>(info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
        for (; at + 1 < end; ++at) {
            Pipe found{{at[0], at[1]}};
            ino_t other = 0;
            if (may_be_descriptors(at, most) && is_end(found.ends[0], O_RDONLY, found.inode) &&
                is_end(found.ends[1], O_WRONLY, other) && other == found.inode) {
                libunwind_pipe = found;
                return 1;
            }
        }
    }
    return 1;
}

bool pipe_is_its_own() noexcept
{
    if (libunwind_pipe.inode == 0)
        return true; // it has none
    for (const int end : libunwind_pipe.ends) {
        struct stat status;
        if (::fstat(end, &status) != 0 || status.st_ino != libunwind_pipe.inode ||
            !S_ISFIFO(status.st_mode))
            return false;
    }
    return true;
}

bool open_libunwind() noexcept
{
    void* library = loader_dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    const auto backtrace_function =
        reinterpret_cast<Backtrace>(loader_dlsym(library, "unw_backtrace"));
    if (!backtrace_function)
        return false;
    // Its shared register cache holds a lock while it asks the loader about an address;
    // unw_backtrace has a cache per thread of its own and does not need it.
    using SetPolicy = int (*)(void*, int);
    const auto set_policy =
        reinterpret_cast<SetPolicy>(loader_dlsym(library, "_ULx86_64_set_caching_policy"));
    void** local_space = static_cast<void**>(loader_dlsym(library, "_ULx86_64_local_addr_space"));
    if (set_policy && local_space)
        set_policy(*local_space, 0 /* UNW_CACHE_NONE */);
    libunwind_backtrace.store(backtrace_function, std::memory_order_release);
    return true;
}

} // namespace

void open_unwinder(Unwinder wanted) noexcept
{
    if (objects_locked_for_ever()) // each unwinder asks for the lock
        return unwinder.store(Unwinder::none, std::memory_order_release);
    if (wanted == Unwinder::none || unwinder.load(std::memory_order_acquire) != Unwinder::none)
        return;
    void* warm[4];
    if (wanted == Unwinder::libunwind && open_libunwind()) {
        const Backtrace function = libunwind_backtrace.load(std::memory_order_relaxed);
        function(warm, 4);
        each_object(&find_pipe, reinterpret_cast<void*>(function));
        unwinder.store(Unwinder::libunwind, std::memory_order_release);
        return;
    }
    ::backtrace(warm, 4); // opens libgcc_s, which allocates: not later, inside an event
    unwinder.store(Unwinder::glibc, std::memory_order_release);
}

Unwinder current_unwinder() noexcept
{
    return unwinder.load(std::memory_order_relaxed);
}

void distrust_libunwind() noexcept
{
    Unwinder expected = Unwinder::libunwind;
    if (unwinder.load() != expected)
        return;
    void* warm[4];
    ::backtrace(warm, 4);
    unwinder.compare_exchange_strong(expected, Unwinder::glibc);
}

std::size_t unwind(std::uintptr_t first, std::uintptr_t* out, std::size_t capacity,
                   bool& truncated) noexcept
{
    const CancellationHeld held; // libunwind writes to a pipe to see what it may read
    void* frames[kMaxFrames + kOwnFrames];
    const auto wanted = static_cast<int>(std::min(capacity + kOwnFrames, std::size(frames)));
    int count = 0;
    if (unwinder.load(std::memory_order_acquire) == Unwinder::libunwind && !pipe_is_its_own())
        [[unlikely]]
        distrust_libunwind();
    switch (unwinder.load(std::memory_order_acquire)) {
    case Unwinder::libunwind:
        count = libunwind_backtrace.load(std::memory_order_relaxed)(frames, wanted);
        break;
    case Unwinder::glibc:
        count = ::backtrace(frames, wanted);
        break;
    case Unwinder::none:
        return 0;
    }
    if (count <= 0)
        return 0;
    void** const end = frames + count;
    void** const hook_caller =
        std::find(frames, std::min(end, frames + kOwnFrames + 1), reinterpret_cast<void*>(first));
    if (hook_caller == end || *hook_caller != reinterpret_cast<void*>(first))
        return 0;
    const auto found = static_cast<std::size_t>(end - hook_caller);
    const std::size_t kept = std::min(found, capacity);
    truncated = found > capacity || count == wanted;
    for (std::size_t i = 0; i < kept; ++i)
        out[i] = reinterpret_cast<std::uintptr_t>(hook_caller[i]);
    return kept;
}

} // namespace vramscope::capture
