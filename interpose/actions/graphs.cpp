// interpose/actions/graphs.cpp — what a launch allocates and frees, as the log is told.
#include "interpose/actions/graphs.hpp"

namespace vramscope::hooks {

void record_launch(Call& call, CUgraphExec executable, CUstream stream)
{
    format::Place place = place_of_stream(call, stream, nullptr);
    if (place.capturing) // it becomes a node of another graph
        return;
    place.pool = 0;
    for (LaunchEffect effect = next_effect(executable, nullptr); effect.address;
         effect = next_effect(executable, &effect)) {
        if (!effect.bytes) {
            FreeRecord free;
            free.begin(call, effect.address);
            free.succeeded(call);
            continue;
        }
        format::Alloc event = allocation(call, log::now(), effect.address, effect.bytes);
        if (effect.stack && effect.generation == log::process->generation)
            log::record_alloc_at(call.thread, event, effect.stack, place);
        else
            log::record_alloc(call.thread, event, place, call.site);
    }
}

} // namespace vramscope::hooks
