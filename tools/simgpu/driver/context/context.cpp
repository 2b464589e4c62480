// tools/simgpu/driver/context/context.cpp — the life of a context, and which is current.
#include "tools/simgpu/driver/context/context.hpp"

#include <pthread.h>
#include <utility>

#include "tools/simgpu/driver/array/array.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/context/thread_state.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"
#include "tools/simgpu/driver/share/share.hpp"
#include "tools/simgpu/driver/stream/event.hpp"

namespace simgpu {
namespace {

std::atomic<std::uint64_t> last_context_id{0};

constexpr std::size_t kStackBytes = 1024;
constexpr std::size_t kPrintfBytes = std::size_t{1} << 20;
constexpr std::size_t kHeapBytes = std::size_t{8} << 20;

pthread_key_t thread_state_key()
{
    static const pthread_key_t key = [] {
        pthread_key_t made;
        pthread_key_create(&made, [](void* state) { delete static_cast<ThreadState*>(state); });
        return made;
    }();
    return key;
}

} // namespace

ThreadState& thread_state()
{
    // Not thread_local: late destructors of the program still call in when C++ has already
    // destroyed the thread-local variables of the main thread.
    void* state = pthread_getspecific(thread_state_key());
    if (!state) {
        state = new ThreadState;
        pthread_setspecific(thread_state_key(), state);
    }
    return *static_cast<ThreadState*>(state);
}

std::mutex& contexts_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

Context* open_context(Device& device, unsigned flags, unsigned api_version)
{
    {
        const std::lock_guard lock(memory_mutex());
        if (!device.take_own(object_bytes().context))
            return nullptr;
    }
    Context* context = slots<Context>().make();
    context->id = ++last_context_id;
    context->device = &device;
    context->own_bytes = object_bytes().context;
    context->flags = flags;
    context->api_version = api_version;
    context->attached = 1;
    context->primary = false;
    context->limits = {};
    context->limits[CU_LIMIT_STACK_SIZE] = kStackBytes;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = kPrintfBytes;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = kHeapBytes;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    context->sticky_error = CUDA_SUCCESS;
    context->has_launched = false;
    context->peers.clear();
    context->legacy_stream = open_stream(*context, CU_STREAM_DEFAULT, 0);
    return context;
}

void close_context(Context& context)
{
    finish_all(context);
    free_arrays_of(context);
    free_memory_of(context);
    free_external_memory_of(context);
    const std::vector<Stream*> open = context.streams;
    for (Stream* stream : open) {
        abandon_capture(*stream);
        close_stream(*stream);
    }
    {
        const std::lock_guard lock(memory_mutex());
        context.device->give_own(std::exchange(context.own_bytes, 0));
    }
    const std::lock_guard lock(contexts_mutex());
    context.per_thread_streams.clear();
    context.legacy_stream = nullptr;
    context.order_stream = nullptr;
    context.held_back_by.clear();
    slots<Context>().retire(&context);
}

Stream* per_thread_stream(Context& context)
{
    const std::lock_guard lock(contexts_mutex());
    Stream*& stream = context.per_thread_streams[std::this_thread::get_id()];
    if (!stream)
        stream = open_stream(context, CU_STREAM_DEFAULT, 0);
    return stream;
}

CUresult current_context(Context*& context)
{
    if (inside_host_function())
        return CUDA_ERROR_NOT_PERMITTED;
    const ThreadState& state = thread_state();
    if (state.current.empty() || !state.current.back().context)
        return CUDA_ERROR_INVALID_CONTEXT;
    const ContextRef& top = state.current.back();
    if (!top.living())
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context = top.context;
    return context->sticky_error.load(std::memory_order_relaxed);
}

CUresult context_of_handle(CUcontext handle, Context*& context)
{
    context = slots<Context>().find(handle);
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

void push_current(Context& context)
{
    thread_state().current.push_back({&context, context.id});
}

} // namespace simgpu
