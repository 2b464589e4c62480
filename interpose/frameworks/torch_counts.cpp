// interpose/frameworks/torch_counts.cpp — PyTorch's own counters, where its allocator has them.
//
// A block that was given back while another stream used it (record_stream) stays active until
// PyTorch finds that the stream has come past it. PyTorch tells nobody when it does, but counts it:
// the numbers of memory_stats() lie in an object for each device, which the allocator that
// libc10_cuda exports has a vector of. Where they lie in there is PyTorch's own affair. They are
// looked for at the first block of a device, and taken for PyTorch's if the two sums that it passes
// with the block are among them and they add up. At each later block both sums must be there again,
// or the log says that active bytes are not known, and nothing is read any more.
//
// With a block they are read under PyTorch's lock. Without one, at marks and at exit, they count if
// nothing was allocated or freed since the last block: only PyTorch's look at its streams can then
// have changed them. The object ends with libc10_cuda's destructors, which run after our handler.
#include "interpose/frameworks/torch_counts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>

#include "interpose/frameworks/suballocations.hpp"
#include "interpose/hooks/run_as_hook.hpp"
#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/lifecycle/ranges.hpp"

namespace vramscope::hooks {
namespace {

constexpr const char* kAllocator = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";

// c10's Stat: what is, its peak, and all that came and went.
struct Count {
    std::int64_t current;
    std::int64_t peak;
    std::int64_t allocated;
    std::int64_t freed;

    bool adds_up() const { return 0 <= current && current <= peak && allocated - freed == current; }
};
struct CountsOfPools { // c10's StatArray
    Count all;
    Count small;
    Count large;

    bool add_up() const
    {
        return all.adds_up() && small.adds_up() && large.adds_up() &&
               small.current + large.current == all.current;
    }
};
// Part of c10's DeviceStats, in bytes. PyTorch 1.4 and later have it so.
struct Counts {
    CountsOfPools allocated;
    CountsOfPools reserved;
    CountsOfPools active;

    bool add_up() const { return allocated.add_up() && reserved.add_up() && active.add_up(); }
    bool are_those_of(const TorchReport& report) const
    {
        const auto sum = [](const std::int64_t& bytes) {
            return static_cast<std::uint64_t>(__atomic_load_n(&bytes, __ATOMIC_RELAXED));
        };
        const std::uint64_t in_use = sum(active.all.current);
        return sum(allocated.all.current) == report.allocated &&
               sum(reserved.all.current) == report.reserved && report.allocated <= in_use &&
               in_use <= report.reserved;
    }
};

struct Device {
    std::atomic<const Counts*> counts;
    std::atomic<std::int64_t> allocated; // as it was with the last block
    std::atomic<std::int64_t> told;      // what the log says of it; -1: nothing
    capture::Lock telling;
};
constexpr std::size_t kMostDevices = 128;
constinit Device devices[kMostDevices]{};
constinit std::atomic<bool> off{false};
constinit std::atomic<bool> exiting{false}; // they are read with a block alone

int look_into(dl_phdr_info* info, std::size_t, void* found)
{
    const ElfW(Dyn)* const dynamic = capture::dynamic_of(*info);
    void* const symbol =
        dynamic ? capture::object_symbol(info->dlpi_addr, dynamic, kAllocator) : nullptr;
    if (symbol)
        *static_cast<void**>(found) = symbol;
    return symbol != nullptr;
}

const Counts* find_in_object(std::uintptr_t object, const TorchReport& report) noexcept
{
    constexpr std::size_t kWords = 128; // they begin in the first half
    std::array<std::int64_t, kWords> words;
    if (!capture::read_carefully(object, words.data(), kWords))
        return nullptr;
    for (std::size_t at = 0; at + sizeof(Counts) / sizeof words[0] <= kWords; ++at) {
        Counts counts;
        std::memcpy(&counts, &words[at], sizeof counts);
        if (counts.are_those_of(report) && counts.add_up())
            return reinterpret_cast<const Counts*>(object + at * sizeof words[0]);
    }
    return nullptr;
}

// Three words of the allocator that may be a std::vector of pointers, one for each device.
const Counts* find_in_vector(const std::uintptr_t* words, const TorchReport& report) noexcept
{
    constexpr std::size_t kPointer = sizeof(void*);
    const auto [begin, end, room] = std::array{words[0], words[1], words[2]};
    const auto device = static_cast<std::size_t>(report.device);
    if (begin == 0 || begin % kPointer || end <= begin || room < end || (end - begin) % kPointer ||
        (end - begin) / kPointer <= device || (end - begin) / kPointer > kMostDevices)
        return nullptr;
    std::uintptr_t object = 0;
    if (!capture::read_carefully(begin + device * kPointer, &object) || object % kPointer)
        return nullptr;
    return find_in_object(object, report);
}

// PyTorch 2.6's allocator has 22 KiB of locks and tables before the vector.
const Counts* find_in_allocator(std::uintptr_t allocator, const TorchReport& report) noexcept
{
    constexpr std::size_t kWords = 256;
    constexpr std::size_t kStep = kWords - 2; // the words of a vector may lie across
    std::array<std::uintptr_t, kWords> words;
    for (std::uintptr_t at = allocator; at < allocator + (64u << 10);
         at += kStep * sizeof words[0]) {
        if (!capture::read_carefully(at, words.data(), kWords))
            return nullptr;
        for (std::size_t word = 0; word < kStep; ++word) {
            if (const Counts* const found = find_in_vector(&words[word], report))
                return found;
        }
    }
    return nullptr;
}

// What stays active though the program gave it back. Nothing: a block is on its way.
bool read_pending(const Device& device, std::int64_t& pending) noexcept
{
    const Counts& counts = *device.counts.load(std::memory_order_acquire);
    const std::int64_t active = __atomic_load_n(&counts.active.all.current, __ATOMIC_ACQUIRE);
    const std::int64_t allocated = __atomic_load_n(&counts.allocated.all.current, __ATOMIC_RELAXED);
    pending = active - allocated;
    return allocated == device.allocated.load(std::memory_order_relaxed) && pending >= 0;
}

bool is_told(const Device& device) noexcept
{
    std::int64_t pending = 0;
    return !read_pending(device, pending) || pending == device.told.load(std::memory_order_relaxed);
}

[[gnu::noinline, gnu::cold]] void tell(Device& device, const log::CallSite& site) noexcept
{
    run_as_hook(site, [&](log::Thread& thread) {
        const std::lock_guard guard(device.telling);
        std::int64_t pending = 0;
        if (read_pending(device, pending) && device.told.exchange(pending) != pending)
            log::write(thread, {log::now()},
                       format::BlocksPending{{api_allocating(Allocator::pytorch)},
                                             &device - devices,
                                             static_cast<std::uint64_t>(pending)});
    });
}

void tell_all() noexcept
{
    const log::CallSite here{0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    for (Device& device : devices) {
        if (off.load(std::memory_order_relaxed) || exiting.load(std::memory_order_relaxed))
            return;
        if (device.counts.load(std::memory_order_acquire) && !is_told(device))
            tell(device, here);
    }
}

[[gnu::cold]] void switch_off(const log::CallSite& site, const char* why) noexcept
{
    if (!off.exchange(true))
        run_as_hook(site, [why](log::Thread& thread) {
            log::write(thread, format::Info{"active.off", why});
        });
}

[[gnu::noinline, gnu::cold]] void look_for_counts(Device& device, const log::CallSite& site,
                                                  const TorchReport& report) noexcept
{
    void* variable = nullptr;
    capture::each_object(&look_into, &variable);
    std::uintptr_t allocator = 0;
    if (!variable ||
        !capture::read_carefully(reinterpret_cast<std::uintptr_t>(variable), &allocator))
        return switch_off(site, "its allocator does not have the name that is looked for");
    const Counts* const found = find_in_allocator(allocator, report);
    if (!found)
        return switch_off(site, "its counters are not where they are looked for");
    device.told = -1;
    device.counts.store(found, std::memory_order_release);
    static constinit std::atomic<bool> watching{false};
    if (watching.exchange(true))
        return;
    log::before_mark.store(&tell_all, std::memory_order_release);
    ::on_exit(
        [](int, void*) {
            tell_all();
            exiting.store(true, std::memory_order_relaxed);
        },
        nullptr);
}

} // namespace

void tell_pending(const log::CallSite& site, const TorchReport& report) noexcept
{
    if (off.load(std::memory_order_relaxed) ||
        static_cast<std::uint64_t>(report.device) >= kMostDevices) [[unlikely]]
        return;
    Device& device = devices[report.device];
    const Counts* counts = device.counts.load(std::memory_order_acquire);
    if (!counts) [[unlikely]]
        look_for_counts(device, site, report);
    else if (!counts->are_those_of(report)) [[unlikely]]
        return switch_off(site, "its counters are not what it tells");
    if (off.load(std::memory_order_relaxed)) [[unlikely]]
        return;
    device.allocated.store(static_cast<std::int64_t>(report.allocated), std::memory_order_relaxed);
    if (!is_told(device)) [[unlikely]]
        tell(device, site);
}

} // namespace vramscope::hooks
