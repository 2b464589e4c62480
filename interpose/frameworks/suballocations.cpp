// interpose/frameworks/suballocations.cpp — written as the events of a hook are.
#include "interpose/frameworks/suballocations.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "interpose/hooks/run_as_hook.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::size_t kMostNamed = 64;

struct Named {
    std::size_t length;
    std::atomic<std::uint32_t> written; // generation of the log that has its entry points
    char name[48];

    std::string_view view() const { return {name, length}; }
};
constinit Named named[kMostNamed]{};
constinit std::size_t named_count = 0;
constinit capture::Lock naming;

std::uint64_t api_of(Allocator allocator, format::Effect effect) noexcept
{
    return api_allocating(allocator) + (effect == format::Effect::free);
}

// The log learns what the program named when it is first needed there.
void define(log::Thread& thread, Allocator allocator) noexcept
{
    if (static_cast<std::size_t>(allocator) < kAllocators) [[likely]]
        return;
    Named& one = named[static_cast<std::size_t>(allocator) - kAllocators];
    const std::uint32_t log = log::process->generation;
    if (one.written.load(std::memory_order_relaxed) == log || one.written.exchange(log) == log)
        return;
    for (const format::Effect effect : {format::Effect::alloc, format::Effect::free})
        log::write(thread, format::Api{api_of(allocator, effect), effect,
                                       format::Memory::suballocated, one.view()});
}

// A block of a signal handler that interrupted a hook is lost, and counted.
template <class Record>
void as_in_a_hook(const log::CallSite& site, Record record) noexcept
{
    if (!run_as_hook(site, record))
        log::count_lost(format::Lost::signal);
}

// A reader then knows that driver allocations are to be looked at twice.
void note_in_header() noexcept
{
    const std::atomic_ref noted(log::process->header->suballocated);
    if (!noted.load(std::memory_order_relaxed)) [[unlikely]]
        noted.store(1, std::memory_order_relaxed);
}

} // namespace

Allocator allocator_named(std::string_view name) noexcept
{
    name = name.substr(0, sizeof Named::name);
    const std::lock_guard guard(naming);
    std::size_t at = 0;
    while (at < named_count && named[at].view() != name)
        ++at;
    if (at == named_count && named_count < kMostNamed) {
        name = at + 1 == kMostNamed ? "other heaps" : name;
        named[at].length = name.size();
        std::copy(name.begin(), name.end(), named[at].name);
        ++named_count;
    }
    return static_cast<Allocator>(kAllocators + std::min(at, kMostNamed - 1));
}

void block_cut(Allocator allocator, const log::CallSite& site, std::uint64_t address,
               std::uint64_t bytes, std::int64_t device) noexcept
{
    as_in_a_hook(site, [&](log::Thread& thread) {
        note_in_header();
        define(thread, allocator);
        format::Alloc event{};
        event.api = api_allocating(allocator);
        event.ticks = log::now();
        event.address = address;
        event.bytes = bytes;
        format::Place place;
        place.device = device;
        log::record_alloc(thread, event, place, site);
    });
}

void block_returned(Allocator allocator, const log::CallSite& site, std::uint64_t address) noexcept
{
    as_in_a_hook(site, [&](log::Thread& thread) {
        define(thread, allocator);
        format::Free event{};
        event.api = api_of(allocator, format::Effect::free);
        event.address = address;
        log::begin_free(thread, event, site);
        log::record_free(thread, event);
    });
}

void block_named(Allocator allocator, std::uint64_t address, std::string_view name) noexcept
{
    const log::CallSite here{0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    run_as_hook(here, [&](log::Thread& thread) {
        define(thread, allocator);
        log::write(thread, {log::now()},
                   format::BlockName{{api_allocating(allocator)}, {address}, name});
    });
}

void blocks_returned(Allocator allocator, std::uint64_t address, std::uint64_t bytes) noexcept
{
    const log::CallSite here{0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    as_in_a_hook(here, [&](log::Thread& thread) {
        define(thread, allocator);
        log::write(thread, {log::now()},
                   format::BlocksGone{{api_allocating(allocator)}, {address}, bytes});
    });
}

void ran_out(Allocator allocator, const log::CallSite& site,
             const format::OutOfMemory& state) noexcept
{
    as_in_a_hook(site, [&](log::Thread& thread) {
        const std::uint64_t api = api_allocating(allocator);
        log::write_with_stack(thread, site, api,
                              format::Failed{CUDA_ERROR_OUT_OF_MEMORY, 0, state.requested});
        log::write(thread, {log::now(), api}, state);
    });
}

} // namespace vramscope::hooks
