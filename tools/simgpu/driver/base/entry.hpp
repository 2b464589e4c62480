// tools/simgpu/driver/base/entry.hpp — the exported names: calls counted, faults armed, a trace.
//
// enter.hpp uses all of it on the way from an exported name to its body.
#pragma once

#include "tools/simgpu/driver/base/cuda.hpp"

#include <atomic>
#include <cstdint>

namespace simgpu {

struct Entry {
    const char* name;
    std::atomic<std::uint64_t> calls{0};
    std::atomic<bool> complained{false};
};
extern Entry entries[];
extern const unsigned entry_count;

// One exported name: its row, whether stream 0 means the per-thread stream, whether cuInit must
// have come first.
struct Form {
    unsigned row;
    bool per_thread;
    bool needs_init;
};

// One relaxed load on the usual path: set while a fault is armed or a trace is written.
extern std::atomic<bool> watched;
extern std::atomic<bool> initialised;
// Which default stream the running call means by a null stream.
extern constinit thread_local bool default_stream_is_per_thread;
// The exported name of the running call.
extern constinit thread_local const char* running_entry;

Entry* find_entry(const char* name);
CUresult not_simulated(Entry& entry);
// CUDA_SUCCESS, or what an armed fault makes this call answer.
CUresult injected_fault(Entry& entry);
void trace(const Entry& entry, CUresult result);
// What a look-up asked for, as a line of its own before the call's.
void trace_look_up(const char* name, int version, std::uint64_t flags);

} // namespace simgpu
