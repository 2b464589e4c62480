// tracker/log/stack_recorder.cpp — verified, else unwound, else new.
#include "tracker/log/stack_recorder.hpp"

#include <atomic>

#include "tracker/capture/signal_frames.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/log/chunk_writer.hpp"

namespace vramscope::log {

namespace {

struct Frames {
    std::uintptr_t addresses[capture::kMaxFrames];
    std::size_t count = 0;
    bool truncated = false;
    bool walked = false;       // these are what the last walk found
    bool interrupting = false; // that walk came out of a signal handler

    void unwind(const CallSite& site) noexcept
    {
        count = capture::unwind(site.return_address, addresses, settings().max_frames, truncated);
    }
    void walk(Thread& thread, const CallSite& site) noexcept
    {
        count = thread.stacks->walk(site.frame, site.return_address, addresses,
                                    settings().max_frames, truncated, interrupting);
        walked = count != 0;
    }
    // Whether functions of Python must be left out; nothing where there are none.
    bool interrupts() const noexcept
    {
        if (!python_seen.load(std::memory_order_relaxed))
            return false;
        return walked ? interrupting : capture::interrupts_something(addresses, count, truncated);
    }
    std::uint64_t hash(std::uint64_t epoch) const noexcept
    {
        return capture::hash_frames(addresses, count, epoch);
    }
};

// A stack that no thread has seen: its modules first, then the stack, then its id for everyone.
[[gnu::noinline, gnu::cold]] std::uint32_t intern_new(Thread& thread, const Frames& taken,
                                                      std::uint64_t hash) noexcept
{
    const capture::SignalsHeld held;
    note_modules(thread);
    const std::uint32_t id = stack_table.new_id();
    if (id == 0) {
        count_lost(format::Lost::table_full);
        return 0;
    }
    const std::uint64_t flags = taken.truncated ? format::Stack::kTruncated : 0;
    if (!write(thread, format::Stack{id, flags, taken.count, {taken.addresses, {}}}))
        return 0;
    renew_clock_pair();
    note_end_of_python();
    if (taken.interrupts())
        note_interrupting_stack(id);
    return stack_table.publish(hash, taken.addresses, taken.count, id);
}

// What one scan of the modules has seen.
struct ModuleNotes {
    Thread& thread;
    bool loaded = false;
};

void write_module(void* context, const capture::Module& module)
{
    auto& notes = *static_cast<ModuleNotes*>(context);
    notes.loaded = true;
    const std::string_view path(module.path);
    const std::string_view build_id(reinterpret_cast<const char*>(module.build_id),
                                    module.build_id_bytes);
    write(notes.thread, {now()},
          format::ModuleLoaded{module.id, module.bias, module.first, module.end, build_id, path});
}

void write_module_gone(void* context, std::uint32_t id)
{
    write(static_cast<ModuleNotes*>(context)->thread, {now()}, format::ModuleGone{id});
}

// What was recognised or walked was not what an unwinder sees. From here on each stack is unwound.
void distrust_verification() noexcept
{
    std::atomic_ref(process->header->verify_mismatches).fetch_add(1, std::memory_order_relaxed);
    verifying.store(false, std::memory_order_relaxed);
}

// The first walk of the process and one of some others is unwound all the same. In place, as a
// thread's stack may be small.
void check_walk(Thread& thread, const CallSite& site, Frames& frames) noexcept
{
    static constinit std::atomic<std::uint64_t> walks{0};
    if (walks.fetch_add(1, std::memory_order_relaxed) % kWalkCheckEvery != 0)
        return;
    const std::uint64_t walked = frames.hash(0);
    frames.unwind(site);
    if (frames.count == 0) {
        frames.walk(thread, site);
    } else if (frames.hash(0) != walked) {
        if (!frames.interrupting) // unwinders differ in how far they see behind a signal handler
            distrust_verification();
        frames.walked = false;
    }
}

// Walks where that is possible: an unwinder's first look at a return address takes microseconds.
void take_frames(Thread& thread, const CallSite& site, Frames& frames) noexcept
{
    if (thread.stacks && verifying.load(std::memory_order_relaxed) &&
        capture::current_unwinder() != capture::Unwinder::none)
        frames.walk(thread, site);
    if (frames.count)
        check_walk(thread, site, frames);
    else
        frames.unwind(site);
}

} // namespace

std::uint32_t unwind_stack(Thread& thread, const CallSite& site, std::uint32_t expected) noexcept
{
    Frames taken;
    take_frames(thread, site, taken);
    if (taken.count == 0)
        return 0;
    std::atomic_ref(process->header->stacks_unwound).fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t epoch = modules.unload_epoch();
    const std::uint64_t hash = taken.hash(epoch);
    std::uint32_t id = stack_table.find(hash, taken.addresses, taken.count);
    if (!id)
        id = intern_new(thread, taken, hash);
    if (expected && expected != id)
        distrust_verification();
    if (!id || !thread.stacks || expected)
        return id;
    if (taken.walked)
        thread.stacks->learn_walked(site.frame, site.return_address, id, epoch);
    else
        thread.stacks->learn(site.frame, taken.addresses, taken.count, taken.truncated, id, epoch);
    return id;
}

void note_modules(Thread& thread) noexcept
{
    const capture::SignalsHeld held; // the loader's lock is ours too, inside its walk
    const std::uint64_t before = modules.unload_epoch();
    ModuleNotes notes{thread};
    modules.scan({&notes, &write_module, &write_module_gone});
    if (modules.unload_epoch() != before) {
        capture::distrust_libunwind();
        check_python_is_loaded();
    }
    if (notes.loaded)
        look_for_python(thread);
}

void code_unloaded() noexcept
{
    capture::distrust_libunwind();
    modules.note_unload();
    check_python_is_loaded();
}

} // namespace vramscope::log
