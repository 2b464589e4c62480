// interpose/frameworks/torch.cpp — the blocks of PyTorch's caching allocator.
//
// libc10_cuda tells libc10 of each block that it hands out or takes back, whether a profiler is on
// or not. A preload comes first in every look-up, so that these calls arrive here although PyTorch
// is opened with RTLD_LOCAL. They are passed on to the function that they would have reached. That
// one is found through the calling library, since RTLD_NEXT does not see libraries that are local;
// so each copy of PyTorch in a process has its own. The caller holds a lock of its device and
// perhaps Python's, so nothing of PyTorch, of Python or of the driver is called.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <mutex>

#include "interpose/frameworks/suballocations.hpp"
#include "interpose/frameworks/torch_counts.hpp"
#include "interpose/frameworks/torch_peaks.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"

namespace {

using namespace vramscope;

constexpr std::uint8_t kCuda = 1; // c10::DeviceType

// c10::Device, as it is passed: its type, and its index, which may be -1.
struct Device {
    std::uint8_t type;
    std::int8_t index;
};

Device device_in(std::uint32_t passed)
{
    return {static_cast<std::uint8_t>(passed), static_cast<std::int8_t>(passed >> 8)};
}

// One of libc10's functions, as each library that calls it would have found it.
class Original {
public:
    constexpr explicit Original(const char* name) : name_(name) {}

    // Null: there is none but `ours`.
    void* seen_from(std::uintptr_t caller, void* ours) noexcept
    {
        for (const Known& known : known_) {
            const std::uintptr_t place = known.caller.load(std::memory_order_acquire);
            if (place == caller) [[likely]]
                return known.function;
            if (place == 0)
                break;
        }
        return find(caller, ours);
    }

private:
    struct Known {
        std::atomic<std::uintptr_t> caller; // a call place; stored last, and never changed
        void* function;
    };

    // Asks the loader. The handle keeps the library loaded, so that the address stays good.
    [[gnu::noinline, gnu::cold]] void* find(std::uintptr_t caller, void* ours) noexcept
    {
        const int program_errno = errno;
        void* function = nullptr;
        Dl_info library;
        if (::dladdr(reinterpret_cast<const void*>(caller), &library))
            if (void* handle = capture::loader_dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
                function = capture::loader_dlsym(handle, name_);
        if (!function || function == ours)
            function = capture::loader_dlsym(RTLD_NEXT, name_);
        errno = program_errno;
        const std::lock_guard guard(lock_);
        for (Known& known : known_) {
            if (known.caller.load(std::memory_order_relaxed) != 0)
                continue;
            known.function = function;
            known.caller.store(caller, std::memory_order_release);
            break;
        }
        return function;
    }

    const char* name_;
    capture::Lock lock_;
    std::array<Known, 16> known_{}; // there are two call places or so
};

constinit Original usage_report{"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"};
constinit Original shortage_report{"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"};
constinit Original old_shortage_report{"_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE"};

using UsageReport = void(void* block, std::int64_t bytes, std::size_t allocated,
                         std::size_t reserved, std::uint32_t device);
using ShortageReport = void(std::size_t bytes, std::size_t allocated, std::size_t reserved,
                            std::uint32_t device);

template <class Report>
Report* seen_from(Original& original, const log::CallSite& caller, Report* ours)
{
    return reinterpret_cast<Report*>(
        original.seen_from(caller.return_address, reinterpret_cast<void*>(ours)));
}

} // namespace

#define VRAMSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

// c10::reportMemoryUsageToProfiler(void*, int64_t, size_t, size_t, c10::Device), since PyTorch
// 1.10: a block of `bytes` was handed out; negative: it was taken back.
VRAMSCOPE_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void* block,
                                                                            std::int64_t bytes,
                                                                            std::size_t allocated,
                                                                            std::size_t reserved,
                                                                            std::uint32_t passed)
{
    const log::CallSite site = VRAMSCOPE_CALL_SITE;
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const Device device = device_in(passed);
    if (device.type == kCuda)
        hooks::note_torch_blocks(device.index, allocated);
    if (device.type == kCuda && bytes > 0) {
        hooks::tell_pending(site, {device.index, allocated, reserved});
        hooks::block_cut(hooks::Allocator::pytorch, site, address,
                         static_cast<std::uint64_t>(bytes), device.index);
    } else if (device.type == kCuda) {
        hooks::block_returned(hooks::Allocator::pytorch, site, address);
        hooks::tell_pending(site, {device.index, allocated, reserved});
    }
    if (UsageReport* const original = seen_from<UsageReport>(
            usage_report, site, &_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE))
        original(block, bytes, allocated, reserved, passed);
}

// c10::reportOutOfMemoryToProfiler(int64_t, size_t, size_t, c10::Device): after all retries, and
// before the exception. Its first parameter was unsigned in some versions.
#define VRAMSCOPE_SHORTAGE(symbol, original_report)                                                \
    VRAMSCOPE_EXPORT void symbol(std::size_t bytes, std::size_t allocated, std::size_t reserved,   \
                                 std::uint32_t passed)                                             \
    {                                                                                              \
        const log::CallSite site = VRAMSCOPE_CALL_SITE;                                            \
        const Device device = device_in(passed);                                                   \
        if (device.type == kCuda) {                                                                \
            hooks::tell_pending(site, {device.index, allocated, reserved});                        \
            hooks::ran_out(hooks::Allocator::pytorch, site,                                        \
                           {device.index, bytes, 0, 0, allocated, reserved, 0});                   \
        }                                                                                          \
        if (ShortageReport* const original =                                                       \
                seen_from<ShortageReport>(original_report, site, &symbol))                         \
            original(bytes, allocated, reserved, passed);                                          \
    }
VRAMSCOPE_SHORTAGE(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE, shortage_report)
VRAMSCOPE_SHORTAGE(_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE, old_shortage_report)
