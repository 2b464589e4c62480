// tools/simgpu/driver/context/context.hpp — contexts, and which one is current on a thread.
//
// A context owns its streams and, through the allocation registry, its plain device, managed, host
// and array memory. Handles are slots: the handle of a destroyed context may be given out again,
// its id never is.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "tools/simgpu/driver/base/slots.hpp"
#include "tools/simgpu/driver/context/device.hpp"
#include "tools/simgpu/driver/stream/stream.hpp"

namespace simgpu {

struct Context {
    std::atomic<bool> alive{false};
    std::uint64_t id = 0;
    Device* device = nullptr;
    unsigned flags = 0;
    unsigned api_version = 0;
    int attached = 1;
    bool primary = false;
    std::array<std::size_t, CU_LIMIT_MAX> limits{};
    CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
    CUsharedconfig shared_config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    std::atomic<CUresult> sticky_error{CUDA_SUCCESS};
    std::atomic<int> pending{0}; // pieces of work that are not done yet
    std::atomic<bool> has_launched{false};

    // Under the engine's mutex.
    std::vector<Stream*> streams;
    Stream* legacy_stream = nullptr;
    std::vector<Mark> held_back_by; // set by hold_back(): new work waits for them

    std::size_t own_bytes = 0; // of its device, taken by the driver; under memory_mutex()

    // Under contexts_mutex().
    std::map<std::thread::id, Stream*> per_thread_streams;
    Stream* order_stream = nullptr; // used by enqueue_after_all(), unseen by the program
    std::set<std::pair<Context*, std::uint64_t>> peers; // contexts whose memory this one may use
};

std::mutex& contexts_mutex();

// Null: the device has no memory left for it.
Context* open_context(Device& device, unsigned flags, unsigned api_version);
// Waits for its work and frees what it owns.
void close_context(Context& context);
Stream* per_thread_stream(Context& context);

// The calling thread's context, or why there is none.
CUresult current_context(Context*& context);
CUresult context_of_handle(CUcontext handle, Context*& context);
void push_current(Context& context);

// Calls a function with the calling thread's context, or says why there is none.
template <class... Parameters, class... Arguments>
CUresult in_current_context(CUresult (*function)(Context&, Parameters...), Arguments... arguments)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    return function(*context, arguments...);
}

} // namespace simgpu
