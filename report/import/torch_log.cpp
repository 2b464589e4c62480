// report/import/torch_log.cpp — each event as the tracer would have recorded it.
#include "report/import/torch_log.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/import/torch_stacks.hpp"
#include "report/import/torch_state.hpp"

namespace vramscope::report {
namespace {

using format::Effect;
using format::Memory;

enum TorchApi : std::uint64_t {
    kSegmentAlloc = 1,
    kSegmentFree,
    kBlockAlloc,
    kBlockFree,
    kPieceCreate,
    kPieceRelease,
    kPieceMap,
    kPieceUnmap
};

constexpr std::uint64_t kTorchStart = 1'000'000'000; // ticks
constexpr std::uint64_t kBeforeFirst = 1000;         // from there to the first event
constexpr std::uint64_t kOutOfMemory = 2;            // CUDA_ERROR_OUT_OF_MEMORY
constexpr std::uint32_t kDefinitionLane = 0;

// The moments of a snapshot, as the log counts them.
class TorchClock {
public:
    explicit TorchClock(const TorchSnapshot& snapshot)
    {
        for (const TorchEvent& event : snapshot.events)
            look_at(event.time_us);
        for (const TorchAnnotation& annotation : snapshot.annotations)
            look_at(annotation.time_us);
    }

    std::uint64_t start_us() const noexcept { return known() ? first_us_ : 0; }
    bool known() const noexcept { return first_us_ != UINT64_MAX; }
    // `count`: of the events before it, which stands in for a time that is not known.
    std::uint64_t ticks(std::uint64_t time_us, std::uint64_t count) const noexcept
    {
        constexpr std::uint64_t kMostUs = std::uint64_t{1} << 50; // 35 years
        const std::uint64_t since = time_us == 0 ? (known() ? 0 : count) : time_us - first_us_;
        return kTorchStart + kBeforeFirst + 1000 * std::min(since, kMostUs);
    }

private:
    void look_at(std::uint64_t time_us)
    {
        if (time_us != 0)
            first_us_ = std::min(first_us_, time_us);
    }
    std::uint64_t first_us_ = UINT64_MAX;
};

// Writes what happened on one device.
class TorchDeviceLog {
public:
    TorchDeviceLog(LogWriter& log, const TorchSnapshot& snapshot, const TorchStacks& stacks,
                   const TorchClock& clock, std::int64_t device, Imported& imported)
        : log_(log), snapshot_(snapshot), stacks_(stacks), clock_(clock), imported_(imported),
          device_(device), lane_(static_cast<std::uint32_t>(device) + 1),
          end_(state_at_end(snapshot, device))
    {
        for (const TorchAnnotation& annotation : snapshot.annotations)
            if (annotation.device == device)
                annotations_.push_back(&annotation);
        std::stable_sort(annotations_.begin(), annotations_.end(),
                         [](const auto* a, const auto* b) { return a->time_us < b->time_us; });
    }

    void write(const TorchTrace& trace)
    {
        write_older(state_before(snapshot_, device_, trace));
        for (std::uint64_t at = 0; at < trace.event_count; ++at) {
            const TorchEvent& event = snapshot_.events[trace.first_event + at];
            annotate_until(event.time_us);
            now_ = std::max(now_, clock_.ticks(event.time_us, at));
            label(event.metadata);
            const TorchEvent* const next = at + 1 < trace.event_count ? &event + 1 : nullptr;
            write_event(event, next);
        }
        annotate_until(UINT64_MAX);
        imported_.events += trace.event_count;
    }

    std::uint64_t now() const noexcept { return now_; }
    std::uint64_t unknown_sizes() const noexcept { return unknown_sizes_; }
    std::uint64_t unknown_stacks() const noexcept { return unknown_stacks_; }
    std::uint64_t older_bytes() const noexcept { return older_bytes_; }
    std::uint64_t inconsistent() const noexcept { return inconsistent_; }

private:
    void write_older(const TorchState& state)
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

    void take_older(std::uint64_t address, const HeldBlock& block)
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

    void write_event(const TorchEvent& event, const TorchEvent* next)
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
            state_.segments.erase(event.address);
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
                state_.mapped.erase(at);
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
    HeldMemory memory_of(const TorchEvent& event) const
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

    std::uint16_t pool_at(const TorchEvent& event) const
    {
        const HeldMemory* const around = state_.around(event.address);
        return event.pool == 0 && around ? around->pool : event.pool;
    }

    format::Place place(std::uint32_t stream, std::uint16_t pool) const
    {
        format::Place place;
        place.device = device_;
        place.stream = snapshot_.streams[stream];
        const auto& [owner, number] = snapshot_.pools[pool];
        place.pool = std::uint64_t{owner} << 32 | number;
        return place;
    }

    void take(TorchApi api, Memory memory, std::uint64_t address, const HeldMemory& held)
    {
        log_.alloc(lane_,
                   {api, now_, address, held.bytes, stacks_.id(held.stack), memory, false, 0},
                   place(held.stream, held.pool));
    }

    void mark_as_cut(std::uint64_t address, const HeldMemory& held)
    {
        log_.add(lane_, {now_},
                 format::CutFrom{{kBlockAlloc},
                                 {address},
                                 held.bytes,
                                 held.small ? format::BlockSize::small : format::BlockSize::large});
    }

    void take_segment(std::uint64_t address, const HeldMemory& held)
    {
        state_.segments[address] = held;
        take(kSegmentAlloc, Memory::device, address, held);
        mark_as_cut(address, held);
    }

    // Of memory that is made and mapped, and lives as long as its mapping.
    void take_piece(std::uint64_t address, const HeldMemory& held)
    {
        state_.mapped[address] = held;
        const std::uint64_t handle = ++handles_;
        take(kPieceCreate, Memory::physical, handle, held);
        log_.add(lane_, {now_, kPieceMap},
                 format::Map{{address}, held.bytes, {handle}, {stacks_.id(held.stack)}});
        log_.free(lane_, {kPieceRelease, now_, handle, 0});
        mark_as_cut(address, held);
    }

    void take_block(std::uint64_t address, const HeldBlock& block)
    {
        state_.blocks[address] = block;
        allocated_ += block.bytes;
        log_.alloc(lane_,
                   {kBlockAlloc, now_, address, block.bytes, stacks_.id(block.stack),
                    Memory::suballocated, false, 0},
                   place(block.stream, block.pool));
    }

    void give_block(std::uint64_t address, std::uint32_t stack, bool at_once)
    {
        std::uint64_t bytes = 0;
        if (const auto block = state_.blocks.find(address); block != state_.blocks.end()) {
            bytes = block->second.bytes;
            allocated_ -= bytes;
            state_.blocks.erase(block);
        }
        if (!at_once) {
            pending_ += awaited_.try_emplace(address, bytes).second ? bytes : 0;
            log_.add(lane_, {now_}, format::Awaited{{kBlockAlloc}, {address}, false});
        }
        give(kBlockFree, address, stack);
        if (!at_once)
            note_pending();
    }

    // Of a block that waited; or of one that was freed at once, if the recording has no request.
    void complete(const TorchEvent& event)
    {
        const auto waiting = awaited_.extract(event.address);
        if (waiting.empty()) {
            if (state_.blocks.contains(event.address))
                give_block(event.address, event.stack, true);
            return;
        }
        pending_ -= waiting.mapped();
        log_.add(lane_, {now_}, format::Awaited{{kBlockAlloc}, {event.address}, true});
        note_pending();
    }

    void note_pending()
    {
        log_.add(lane_, {now_}, format::BlocksPending{{kBlockAlloc}, {device_}, pending_});
    }

    void give(TorchApi api, std::uint64_t address, std::uint32_t stack)
    {
        log_.free(lane_, {api, now_, address, stacks_.id(stack)});
    }

    void run_out(const TorchEvent& event)
    {
        std::uint64_t reserved = 0;
        for (const auto* const held : {&state_.segments, &state_.mapped})
            for (const auto& [address, memory] : *held)
                reserved += memory.bytes;
        const format::Moment moment{now_, kBlockAlloc};
        log_.place(lane_, now_, place(event.stream, event.pool));
        log_.add(lane_, moment,
                 format::Failed{kOutOfMemory, 0, event.bytes, stacks_.id(event.stack)});
        log_.add(
            lane_, moment,
            format::OutOfMemory{{device_}, event.bytes, event.address, 0, allocated_, reserved, 0});
    }

    // What the program wrote to the events from here on.
    void label(std::uint32_t metadata)
    {
        if (metadata != 0 && metadata != label_)
            log_.add(lane_, {now_}, format::Mark{snapshot_.texts[metadata]});
        label_ = metadata;
    }

    void annotate_until(std::uint64_t time_us)
    {
        for (; next_annotation_ < annotations_.size(); ++next_annotation_) {
            const TorchAnnotation& next = *annotations_[next_annotation_];
            if (next.time_us > time_us)
                return;
            now_ = std::max(now_, clock_.ticks(next.time_us, 0));
            if (next.begins) {
                open_.push_back(next.name);
                log_.add(lane_, {now_}, format::RangePush{next.name});
            } else if (std::find(open_.begin(), open_.end(), next.name) != open_.end()) {
                close(next.name);
            }
        }
    }

    // Ranges that were not ended inside of it end with it.
    void close(const std::string& name)
    {
        bool found = false;
        while (!found) {
            found = open_.back() == name;
            open_.pop_back();
            log_.add(lane_, {now_}, format::RangePop{});
        }
    }

    LogWriter& log_;
    const TorchSnapshot& snapshot_;
    const TorchStacks& stacks_;
    const TorchClock& clock_;
    Imported& imported_;
    std::int64_t device_;
    std::uint32_t lane_;
    TorchState end_;
    TorchState state_; // now
    std::uint64_t now_ = kTorchStart;
    std::uint64_t allocated_ = 0;
    std::uint64_t handles_ = 0;
    std::map<std::uint64_t, std::uint64_t> awaited_; // bytes by address
    std::uint64_t pending_ = 0;                      // their sum
    std::uint32_t label_ = 0;
    std::vector<const TorchAnnotation*> annotations_;
    std::size_t next_annotation_ = 0;
    std::vector<std::string> open_;
    std::uint64_t unknown_sizes_ = 0;
    std::uint64_t unknown_stacks_ = 0;
    std::uint64_t older_bytes_ = 0;
    std::uint64_t inconsistent_ = 0;
};

void write_definitions(LogWriter& log, const TorchSnapshot& snapshot, const std::string& program)
{
    const auto info = [&](std::string_view key, std::string_view value) {
        log.add(kDefinitionLane, {}, format::Info{key, value});
    };
    info("program", program);
    info("imported", "PyTorch memory snapshot");
    for (const auto& [key, value] : snapshot.settings)
        info((key == "PYTORCH_CUDA_ALLOC_CONF" ? "env." : "torch.") + key, value);
    const auto api = [&](TorchApi id, Effect effect, Memory memory, std::string_view name) {
        log.add(kDefinitionLane, {}, format::Api{id, effect, memory, name});
    };
    api(kSegmentAlloc, Effect::alloc, Memory::device, "cudaMalloc");
    api(kSegmentFree, Effect::free, Memory::device, "cudaFree");
    api(kBlockAlloc, Effect::alloc, Memory::suballocated, "PyTorch");
    api(kBlockFree, Effect::free, Memory::suballocated, "PyTorch");
    api(kPieceCreate, Effect::alloc, Memory::physical, "cuMemCreate");
    api(kPieceRelease, Effect::free, Memory::physical, "cuMemRelease");
    api(kPieceMap, Effect::none, Memory::none, "cuMemMap");
    api(kPieceUnmap, Effect::none, Memory::none, "cuMemUnmap");
}

struct Untold {
    std::uint64_t older_bytes = 0;
    std::uint64_t sizes = 0;
    std::uint64_t stacks = 0;
    std::uint64_t inconsistent = 0;
};

void tell_unknown(Imported& imported, const Untold& untold, bool times)
{
    std::vector<std::string>& unknown = imported.unknown;
    unknown.emplace_back("a memory snapshot of PyTorch has its allocator's memory alone: what "
                         "contexts, libraries and other processes had on the device is not known");
    if (imported.older_blocks > 0)
        unknown.push_back(fmt::format(
            "{} blocks ({} bytes) are older than the recording: when they were allocated is not "
            "known, nor by which stack {} of them were",
            imported.older_blocks, untold.older_bytes, untold.stacks));
    if (untold.sizes > 0)
        unknown.push_back(fmt::format("the sizes of {} blocks are not known: those of their places "
                                      "are counted, which are larger",
                                      untold.sizes));
    if (!times)
        unknown.emplace_back("the recording has no times: its events are shown 1 us apart");
    if (untold.inconsistent > 0)
        unknown.push_back(fmt::format("{} events do not fit to what the snapshot holds at its end",
                                      untold.inconsistent));
}

std::int64_t devices_of(const TorchSnapshot& snapshot)
{
    constexpr std::int64_t kMostDevices = 1024;
    std::int64_t devices =
        std::min<std::int64_t>(kMostDevices, static_cast<std::int64_t>(snapshot.traces.size()));
    for (const TorchSegment& segment : snapshot.segments)
        if (segment.device >= 0 && segment.device < kMostDevices)
            devices = std::max(devices, segment.device + 1);
    return devices;
}

} // namespace

bool write_torch_log(const TorchSnapshot& snapshot, const std::string& program, int descriptor,
                     Imported& imported)
{
    imported.what = "PyTorch memory snapshot";
    LogWriter log(descriptor, kTorchStart);
    const TorchClock clock(snapshot);
    log.name_lane(kDefinitionLane, "imported");
    write_definitions(log, snapshot, program);
    const TorchStacks stacks(log, kDefinitionLane, snapshot);
    Untold untold;
    std::uint64_t last = kTorchStart;
    for (std::int64_t device = 0; device < devices_of(snapshot); ++device) {
        TorchDeviceLog of_device(log, snapshot, stacks, clock, device, imported);
        const auto index = static_cast<std::size_t>(device);
        of_device.write(index < snapshot.traces.size() ? snapshot.traces[index] : TorchTrace{});
        last = std::max(last, of_device.now());
        untold.older_bytes += of_device.older_bytes();
        untold.sizes += of_device.unknown_sizes();
        untold.stacks += of_device.unknown_stacks();
        untold.inconsistent += of_device.inconsistent();
    }
    tell_unknown(imported, untold, clock.known());
    if (!clock.known())
        log.add(kDefinitionLane, {}, format::Info{"imported.times", "none"});
    for (const std::string& sentence : imported.unknown)
        log.add(kDefinitionLane, {}, format::Info{"imported.unknown", sentence});
    log.header().start_real_ns = 1000 * clock.start_us() - (clock.known() ? kBeforeFirst : 0);
    log.header().snapshot_ticks = last + kBeforeFirst; // it was running when it was recorded
    log.header().suballocated = 1;
    return log.finish();
}

} // namespace vramscope::report
