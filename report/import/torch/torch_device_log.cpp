// report/import/torch/torch_device_log.cpp — events to records; the state has what an event omits.
#include "report/import/torch/torch_device_log.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

using format::Memory;

constexpr std::uint64_t kOutOfMemory = 2;                    // CUDA_ERROR_OUT_OF_MEMORY
constexpr std::string_view kNoMetadata = "no user metadata"; // an export knows these words

} // namespace

TorchDeviceLog::TorchDeviceLog(LogWriter& log, const TorchSnapshot& snapshot,
                               const TorchStacks& stacks, const TorchClock& clock,
                               std::int64_t device, Imported& imported)
    : log_(log), snapshot_(snapshot), stacks_(stacks), clock_(clock), imported_(imported),
      device_(device), lane_(static_cast<std::uint32_t>(device) + 1),
      end_(state_at_end(snapshot, device)), ranges_(log, lane_, clock, snapshot, device)
{
}

void TorchDeviceLog::write(const TorchTrace& trace)
{
    write_older(state_before(snapshot_, device_, trace));
    for (std::uint64_t at = 0; at < trace.event_count; ++at) {
        const TorchEvent& event = snapshot_.events[trace.first_event + at];
        now_ = ranges_.write_until(event.time_us, now_);
        now_ = std::max(now_, clock_.ticks(event.time_us, at));
        label(event.metadata);
        const TorchEvent* const next =
            at + 1 < trace.event_count ? &snapshot_.events[trace.first_event + at + 1] : nullptr;
        write_event(event, next);
    }
    now_ = ranges_.write_until(UINT64_MAX, now_);
    imported_.events += trace.event_count;
}

void TorchDeviceLog::write_older(const TorchState& state)
{
    now_ = kTorchStart;
    inconsistent_ = state.inconsistent;
    for (const auto& [address, memory] : state.segments)
        take_segment(address, memory);
    for (const auto& [address, memory] : state.mapped)
        take_piece(address, memory);
    for (const auto& [address, block] : state.blocks)
        take_older(address, block);
    for (const auto& [address, block] : state.pending) {
        take_older(address, block);
        give_block(address, 0, false);
    }
}

void TorchDeviceLog::take_older(std::uint64_t address, const HeldBlock& block)
{
    take_block(address, block);
    ++imported_.older_blocks;
    older_bytes_ += block.bytes;
    unknown_stacks_ += block.stack == 0;
    if (block.exact)
        return;
    ++unknown_sizes_;
    log_.add(lane_, {now_}, format::SizeUnknown{{kBlockAlloc}, {address}});
}

void TorchDeviceLog::write_event(const TorchEvent& event, const TorchEvent* next)
{
    switch (event.action) {
    case TorchAction::alloc:
        return take_block(event.address,
                          {event.bytes, event.stack, event.stream, pool_at(event), true});
    case TorchAction::free_requested:
        return give_block(event.address, event.stack,
                          next && next->action == TorchAction::free_completed &&
                              next->address == event.address && next->time_us == event.time_us);
    case TorchAction::free_completed:
        return complete(event);
    case TorchAction::segment_alloc:
        return take_segment(event.address, memory_of(event));
    case TorchAction::segment_free:
        let_go(state_.segments, event.address);
        return give(kSegmentFree, event.address, event.stack);
    case TorchAction::segment_map:
        for_each_piece(event.address, event.bytes, [&](std::uint64_t at, std::uint64_t bytes) {
            HeldMemory piece = memory_of(event);
            piece.bytes = bytes;
            take_piece(at, piece);
        });
        return;
    case TorchAction::segment_unmap:
        for_each_piece(event.address, event.bytes, [&](std::uint64_t at, std::uint64_t bytes) {
            let_go(state_.mapped, at);
            log_.add(lane_, {now_, kPieceUnmap}, format::Unmap{{at}, bytes});
        });
        return;
    case TorchAction::oom:
        return run_out(event);
    case TorchAction::snapshot:
        return log_.add(
            lane_, {now_},
            format::Mark{fmt::format("PyTorch snapshot, active bytes: {}", event.bytes)});
    case TorchAction::other:
        return;
    }
}

// The end of the snapshot knows more of a segment that is still there than the event does.
HeldMemory TorchDeviceLog::memory_of(const TorchEvent& event) const
{
    HeldMemory memory{event.bytes, event.stack, event.stream, event.pool,
                      event.bytes == kMappedPiece};
    const HeldMemory* const left = end_.around(event.address);
    if (!left || left->stream != memory.stream)
        return memory;
    memory.pool = memory.pool != 0 ? memory.pool : left->pool;
    memory.small = left->small;
    return memory;
}

std::uint16_t TorchDeviceLog::pool_at(const TorchEvent& event) const
{
    const HeldMemory* const around = state_.around(event.address);
    return event.pool == 0 && around ? around->pool : event.pool;
}

format::Place TorchDeviceLog::place(std::uint32_t stream, std::uint16_t pool) const
{
    format::Place place;
    place.device = device_;
    place.stream = snapshot_.streams[stream];
    const auto& [owner, number] = snapshot_.pools[pool];
    place.pool = std::uint64_t{owner} << 32 | number;
    return place;
}

void TorchDeviceLog::take(TorchApi api, Memory memory, std::uint64_t address,
                          const HeldMemory& held)
{
    log_.alloc(lane_, {api, now_, address, held.bytes, stacks_.id(held.stack), memory, false, 0},
               place(held.stream, held.pool));
}

void TorchDeviceLog::mark_as_cut(std::uint64_t address, const HeldMemory& held)
{
    log_.add(lane_, {now_},
             format::CutFrom{{kBlockAlloc},
                             {address},
                             held.bytes,
                             held.small ? format::BlockSize::small : format::BlockSize::large});
}

void TorchDeviceLog::hold(std::map<std::uint64_t, HeldMemory>& all, std::uint64_t address,
                          const HeldMemory& held)
{
    let_go(all, address);
    reserved_ += held.bytes;
    all[address] = held;
}

void TorchDeviceLog::let_go(std::map<std::uint64_t, HeldMemory>& all, std::uint64_t address)
{
    const auto found = all.find(address);
    if (found == all.end())
        return;
    reserved_ -= found->second.bytes;
    all.erase(found);
}

void TorchDeviceLog::take_segment(std::uint64_t address, const HeldMemory& held)
{
    hold(state_.segments, address, held);
    take(kSegmentAlloc, Memory::device, address, held);
    mark_as_cut(address, held);
}

// The piece is memory that is made and mapped, and lives as long as its mapping.
void TorchDeviceLog::take_piece(std::uint64_t address, const HeldMemory& held)
{
    hold(state_.mapped, address, held);
    const std::uint64_t handle = ++handles_;
    take(kPieceCreate, Memory::physical, handle, held);
    log_.add(lane_, {now_, kPieceMap},
             format::Map{{address}, held.bytes, {handle}, {stacks_.id(held.stack)}});
    log_.free(lane_, {kPieceRelease, now_, handle, 0});
    mark_as_cut(address, held);
}

void TorchDeviceLog::take_block(std::uint64_t address, const HeldBlock& block)
{
    state_.blocks[address] = block;
    allocated_ += block.bytes;
    log_.alloc(lane_,
               {kBlockAlloc, now_, address, block.bytes, stacks_.id(block.stack),
                Memory::suballocated, false, 0},
               place(block.stream, block.pool));
}

void TorchDeviceLog::give_block(std::uint64_t address, std::uint32_t stack, bool at_once)
{
    if (const auto block = state_.blocks.find(address); block != state_.blocks.end()) {
        allocated_ -= block->second.bytes;
        state_.blocks.erase(block);
    }
    if (!at_once) {
        awaited_.insert(address);
        log_.add(lane_, {now_}, format::Awaited{{kBlockAlloc}, {address}, false});
    }
    give(kBlockFree, address, stack);
}

// The block waited until now; or it was freed at once, if the recording has no request.
void TorchDeviceLog::complete(const TorchEvent& event)
{
    if (awaited_.erase(event.address) != 0)
        log_.add(lane_, {now_}, format::Awaited{{kBlockAlloc}, {event.address}, true});
    else if (state_.blocks.contains(event.address))
        give_block(event.address, event.stack, true);
}

void TorchDeviceLog::give(TorchApi api, std::uint64_t address, std::uint32_t stack)
{
    log_.free(lane_, {api, now_, address, stacks_.id(stack)});
}

void TorchDeviceLog::run_out(const TorchEvent& event)
{
    const format::Moment moment{now_, kBlockAlloc};
    log_.place(lane_, now_, place(event.stream, event.pool));
    log_.add(lane_, moment, format::Failed{kOutOfMemory, 0, event.bytes, stacks_.id(event.stack)});
    log_.add(
        lane_, moment,
        format::OutOfMemory{{device_}, event.bytes, event.address, 0, allocated_, reserved_, 0});
}

// What the program wrote to the events from here on.
void TorchDeviceLog::label(std::uint32_t metadata)
{
    if (metadata != label_)
        log_.add(lane_, {now_},
                 format::Mark{metadata != 0 ? std::string_view(snapshot_.texts[metadata])
                                            : kNoMetadata});
    label_ = metadata;
}

} // namespace vramscope::report
