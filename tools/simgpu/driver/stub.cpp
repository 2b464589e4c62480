#include "tools/simgpu/driver/capture.hpp"
#include "tools/simgpu/driver/event.hpp"
#include "tools/simgpu/driver/pool.hpp"
#include "tools/simgpu/driver/vmm.hpp"
#include "tools/simgpu/driver/graph.hpp"
#include "tools/simgpu/driver/array.hpp"
namespace simgpu {
CUresult submit(Stream& stream, Submission submission, Mark* mark)
{
    const Mark m = enqueue(stream, std::move(submission.work));
    if (mark) *mark = m;
    return CUDA_SUCCESS;
}
CUresult refuse_during_capture() { return CUDA_SUCCESS; }
CUresult refuse_to_wait(Stream&) { return CUDA_SUCCESS; }
CUresult refuse_to_wait(Context&) { return CUDA_SUCCESS; }
bool capturing(Stream&) { return false; }
void abandon_capture(Stream&) {}
std::optional<CUresult> record_in_capture(Stream&, Event&) { return std::nullopt; }
std::optional<CUresult> wait_in_capture(Stream&, Event&) { return std::nullopt; }
void give_to_pool_locked(const Allocation&) {}
void trim_pools_after_sync() {}
bool address_is_reserved_locked(std::uintptr_t address)
{
    for (const Device* device : devices())
        if (address - device->window() < device->window_bytes())
            return true;
    return false;
}
void release_graph_memory_locked(const Allocation&) {}
Slots<Array>& arrays() { static auto* a = new Slots<Array>; return *a; }
Plane plane_of(const Array&) { return {}; }
}
