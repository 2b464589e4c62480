// tracker/capture/modules.hpp — which libraries are loaded, so that addresses can be named later.
//
// scan() compares the loader's list with the last one and calls back for what came and went; when
// the loader's counters have not moved it costs one short call. Only memory that the loader maps is
// read. Any thread may call; the callbacks run inside dl_iterate_phdr and must not call the loader.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracker/capture/lock.hpp"

namespace vramscope::capture {

struct Module {
    std::uint32_t id = 0;     // counts from 1; 0: the slot is free
    std::uintptr_t bias = 0;  // run-time address minus address in the file
    std::uintptr_t first = 0; // loaded range
    std::uintptr_t end = 0;
    std::uint8_t build_id[64] = {};
    std::uint32_t build_id_bytes = 0;
    std::uint32_t generation = 0;
    char path[512] = {}; // absolute where known; "[vdso]" for the kernel's object
};

// What scan() calls; `context` is handed through.
struct ModuleObserver {
    void* context;
    void (*loaded)(void* context, const Module& module);
    void (*gone)(void* context, std::uint32_t id);
};

// How many objects the loader has unloaded so far.
unsigned long long unloaded_objects() noexcept;

class Modules {
public:
    void scan(const ModuleObserver& observer) noexcept;
    void reset_after_fork() noexcept;

    // To be called after code was unloaded: known addresses may mean other code now. The next scan
    // finds which library it was.
    void note_unload() noexcept { unload_epoch_.fetch_add(1, std::memory_order_relaxed); }

    // How many times code was seen to be unloaded.
    std::uint64_t unload_epoch() const noexcept
    {
        return unload_epoch_.load(std::memory_order_relaxed);
    }

private:
    struct Scan;
    static constexpr std::size_t kMaxModules = 4096;

    Module* find_or_add(std::uintptr_t bias, std::uintptr_t first, bool& added) noexcept;

    Lock lock_;
    Module* modules_ = nullptr; // kMaxModules slots, mapped at the first scan
    std::size_t used_ = 0;
    std::uint32_t next_id_ = 1;
    std::uint32_t generation_ = 0;
    std::atomic<unsigned long long> adds_{0};
    std::atomic<unsigned long long> subs_{0};
    std::atomic<std::uint64_t> unload_epoch_{0};
};

} // namespace vramscope::capture
