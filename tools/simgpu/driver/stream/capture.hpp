// tools/simgpu/driver/stream/capture.hpp — submit work to a stream: queued, or added to the graph
// being captured.
#pragma once

#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {

struct Graph;
struct GraphNode;

struct Submission {
    Work work;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
};

// `mark` is set when the work was queued; captured work has none.
CUresult submit(Stream& stream, Submission submission, Mark* mark = nullptr);

// Calls that a capture in CU_STREAM_CAPTURE_MODE_GLOBAL or _THREAD_LOCAL forbids (cuMemAlloc,
// cuMemFree, ...): breaks the capture and says so. CUDA_SUCCESS when nothing forbids.
CUresult refuse_during_capture();
// Calls that wait for a stream or a context: forbidden if it is being captured.
CUresult refuse_to_wait(Stream& stream);
CUresult refuse_to_wait(Context& context);

bool capturing(Stream& stream);

} // namespace simgpu
