// tools/simgpu/driver/stream/capture_state.hpp — the open captures.
//
// For the files that write into them. All of it is under capture_mutex().
#pragma once

#include "tools/simgpu/driver/graph/graph.hpp"

namespace simgpu {

struct Capture {
    std::uint64_t id = 0;
    Graph* graph = nullptr;
    bool graph_is_callers = false;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    Stream* origin = nullptr;
    bool broken = false;
    std::map<Stream*, std::vector<GraphNode*>> tips; // what the next node of each stream depends on
};

struct Captures {
    std::uint64_t last_id = 0;
    std::set<Capture*> open;
};

Captures& captures();
void open_capture_locked(Capture& capture);
void end_locked(Capture& capture);
// The graph is lost, unless it belongs to the caller.
void end_with_graph_locked(Capture& capture);
// A legacy stream waits for blocking streams, so it cannot be used while one of them is captured.
bool breaks_by_legacy_stream_locked(Stream& stream);
// The same as a question, which breaks nothing.
bool blocked_by_capture_locked(const Stream& stream);

} // namespace simgpu
