// tools/simgpu/driver/base/entry.hpp — the exported names: calls counted, faults armed, a trace.
//
// enter.hpp uses all of it on the way from an exported name to its body.
#pragma once

#include <atomic>
#include <cstdint>

#include "tools/simgpu/driver/base/cuda.hpp"

namespace simgpu {

struct Entry {
    const char* name;
    std::atomic<std::uint64_t> calls{0};
    std::atomic<bool> complained{false};
};
extern Entry entries[];
extern const unsigned entry_count;

// One exported name: its row in entries, whether stream 0 means the per-thread stream, and whether
// cuInit must have been called before.
struct Form {
    unsigned row;
    bool per_thread;
    bool needs_init;
    bool nulls_answer; // where its answer was to be is a null pointer if it fails, however it does
};

// Set while a fault is armed or a trace is written; the usual call pays one relaxed load for it.
extern std::atomic<bool> watched;
extern std::atomic<bool> initialised;
// Whether a null stream means the thread's own default stream in the running call.
extern constinit thread_local bool default_stream_is_per_thread;
// The exported name of the running call.
extern constinit thread_local const char* running_entry;

Entry* find_entry(const char* name);
CUresult not_simulated(Entry& entry);
// CUDA_SUCCESS, or the result that an armed fault gives this call.
CUresult injected_fault(Entry& entry);
void trace(const Entry& entry, CUresult result);
// Writes what a look-up asked for, on a line before the one of the call.
void trace_look_up(const char* name, int version, std::uint64_t flags);

} // namespace simgpu
