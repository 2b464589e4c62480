// report/import/torch/torch_state.cpp — events undone, the last one first.
#include "report/import/torch/torch_state.hpp"

#include <iterator>

namespace vramscope::report {
namespace {

bool is_around(const std::map<std::uint64_t, HeldMemory>& held,
               std::map<std::uint64_t, HeldMemory>::const_iterator behind, std::uint64_t address)
{
    return behind != held.begin() &&
           address - std::prev(behind)->first < std::prev(behind)->second.bytes;
}

void undo(TorchState& state, const TorchEvent& event)
{
    const HeldMemory memory{event.bytes, 0, event.stream, event.pool, event.bytes == kMappedPiece};
    switch (event.action) {
    case TorchAction::alloc: // a recording may lack the request to free
        state.inconsistent +=
            state.blocks.erase(event.address) + state.pending.erase(event.address) == 0;
        break;
    case TorchAction::free_requested:
        state.pending.erase(event.address);
        state.blocks[event.address] = {event.bytes, 0, event.stream, event.pool, true};
        break;
    case TorchAction::segment_alloc:
        state.inconsistent += state.segments.erase(event.address) == 0;
        break;
    case TorchAction::segment_free:
        state.segments[event.address] = memory;
        break;
    case TorchAction::segment_map:
        for_each_piece(event.address, event.bytes, [&](std::uint64_t piece, std::uint64_t) {
            state.inconsistent += state.mapped.erase(piece) == 0;
        });
        break;
    case TorchAction::segment_unmap:
        for_each_piece(event.address, event.bytes, [&](std::uint64_t piece, std::uint64_t bytes) {
            state.mapped[piece] = {bytes, 0, event.stream, event.pool, memory.small};
        });
        break;
    case TorchAction::free_completed:
        state.pending[event.address] = {event.bytes, 0, event.stream, event.pool, true};
        break;
    case TorchAction::oom:
    case TorchAction::snapshot:
    case TorchAction::other:
        break;
    }
}

} // namespace

const HeldMemory* TorchState::around(std::uint64_t address) const
{
    for (const auto* const held : {&segments, &mapped})
        if (const auto behind = held->upper_bound(address); is_around(*held, behind, address))
            return &std::prev(behind)->second;
    return nullptr;
}

TorchState state_at_end(const TorchSnapshot& snapshot, std::int64_t device)
{
    TorchState state;
    for (const TorchSegment& segment : snapshot.segments) {
        if (segment.device != device)
            continue;
        HeldMemory memory{segment.bytes, segment.stack, segment.stream, segment.pool,
                          segment.small};
        if (!segment.expandable)
            state.segments[segment.address] = memory;
        else
            for_each_piece(segment.address, segment.bytes,
                           [&](std::uint64_t piece, std::uint64_t bytes) {
                               memory.bytes = bytes;
                               state.mapped[piece] = memory;
                           });
        for (std::uint64_t at = 0; at < segment.block_count; ++at) {
            const TorchBlock& block = snapshot.blocks[segment.first_block + at];
            if (block.state == TorchBlock::State::inactive)
                continue;
            auto& of = block.state == TorchBlock::State::pending ? state.pending : state.blocks;
            of[block.address] = {block.requested.value_or(block.bytes), block.stack, segment.stream,
                                 segment.pool, block.requested.has_value()};
        }
    }
    return state;
}

TorchState state_before(const TorchSnapshot& snapshot, std::int64_t device, const TorchTrace& trace)
{
    TorchState state = state_at_end(snapshot, device);
    for (std::uint64_t at = trace.event_count; at > 0; --at)
        undo(state, snapshot.events[trace.first_event + at - 1]);
    return state;
}

} // namespace vramscope::report
