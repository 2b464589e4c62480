// tools/simgpu/driver/stream/event.hpp — events of streams, contexts and captures.
//
// An event is a mark in a stream and the time at which that was reached, or a point of a capture.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "tools/simgpu/driver/context/context.hpp"
#include "tools/simgpu/driver/share/ipc_event.hpp"

namespace simgpu {

struct GraphNode;

// Written when the work runs, perhaps after the event was recorded anew or destroyed.
struct EventTime {
    std::atomic<bool> set{false};
    std::chrono::steady_clock::time_point at;
};

struct Event {
    std::atomic<bool> alive{false};
    unsigned flags = 0;
    Context* context = nullptr;
    Mark mark;
    std::shared_ptr<EventTime> time; // null until it is recorded
    // If it was recorded while its stream was captured, it has these nodes instead of a
    // mark. Under capture_mutex().
    std::uint64_t capture_id = 0;
    std::vector<GraphNode*> capture_tips;
    // For an interprocess event: what all its processes see, and the record that the
    // mark stands for.
    std::shared_ptr<SharedEvent> shared;
    std::uint64_t shared_ticket = 0;
};

Event* open_event(Context& context, unsigned flags, std::shared_ptr<SharedEvent> shared);
// The work that gives the event its time, a new one from now on.
Work stamp(Event& event);

// Ends a capture that the stream began or joined; its graph is lost.
void abandon_capture(Stream& stream);
// What cuEventRecord and cuStreamWaitEvent do for a capture; nothing if there is none.
std::optional<CUresult> record_in_capture(Stream& stream, Event& event);
std::optional<CUresult> wait_in_capture(Stream& stream, Event& event);
// The same for cuCtxRecordEvent and cuCtxWaitEvent, which cannot be captured. An event that is
// recorded anew is not a point of a capture any more. To wait for one that is breaks its capture.
void leave_capture(Event& event);
CUresult refuse_while_captured(const Event& event);

} // namespace simgpu
