// interpose/frameworks/suballocations.cpp — written as the events of a hook are.
#include "interpose/frameworks/suballocations.hpp"

#include <atomic>

#include "interpose/frameworks/run_as_hook.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {
namespace {

std::uint64_t api_of(Allocator allocator, format::Effect effect) noexcept
{
    return kHooks + 2 * static_cast<std::uint64_t>(allocator) + (effect == format::Effect::free);
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

void block_cut(Allocator allocator, const log::CallSite& site, std::uint64_t address,
               std::uint64_t bytes, std::int64_t device) noexcept
{
    as_in_a_hook(site, [&](log::Thread& thread) {
        note_in_header();
        format::Alloc event{};
        event.api = api_of(allocator, format::Effect::alloc);
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
        format::Free event{};
        event.api = api_of(allocator, format::Effect::free);
        event.address = address;
        log::begin_free(thread, event, site);
        log::record_free(thread, event);
    });
}

void ran_out(Allocator allocator, const log::CallSite& site,
             const format::OutOfMemory& state) noexcept
{
    as_in_a_hook(site, [&](log::Thread& thread) {
        const std::uint64_t api = api_of(allocator, format::Effect::alloc);
        log::write_with_stack(thread, site, api,
                              format::Failed{CUDA_ERROR_OUT_OF_MEMORY, 0, state.requested});
        log::write(thread, {log::now(), api}, state);
    });
}

} // namespace vramscope::hooks
