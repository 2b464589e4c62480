// tools/simgpu/driver/stream/capture.hpp — submit work to a stream, captured or not.
#pragma once

#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

struct Graph;
struct GraphNode;

struct Submission {
    Work work;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
};

// Queues the work, or adds it to the graph that is being captured. `mark` is set if the work was
// queued; captured work has none.
CUresult submit(Stream& stream, Submission submission, Mark* mark = nullptr);

// For calls that a capture in CU_STREAM_CAPTURE_MODE_GLOBAL or _THREAD_LOCAL forbids, such as
// cuMemAlloc and cuMemFree. Breaks the capture and says so; CUDA_SUCCESS if no capture
// forbids the call.
CUresult refuse_during_capture();
// For calls that wait for a stream or a context, which is forbidden while it is captured.
CUresult refuse_to_wait(Stream& stream);
CUresult refuse_to_wait(Context& context);

bool capturing(Stream& stream);

} // namespace simgpu
