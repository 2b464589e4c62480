// tests/support/random_program.cpp — a program that takes and gives back at random.
//
// Rarely it does what no sound program does.
#include "tests/support/random_program.hpp"

#include <algorithm>
#include <random>

namespace vramscope::test {
namespace {

using format::Memory;

struct Kind {
    std::string_view alloc;
    std::string_view free; // empty: nothing frees it
    Memory memory;
    std::uint64_t first; // address
    std::uint64_t pool = 0;
    bool dies_with_context = false;
    bool capturing = false;
};

constexpr std::uint64_t kSlots = 12; // addresses of a kind, so that they come again
constexpr std::uint64_t kSlotBytes = 4_MiB;
constexpr std::uint64_t kPooledFirst = 0x7f0000000000;
constexpr std::uint64_t kSegmentBytes = 32_MiB;

constexpr Kind kKinds[] = {
    {"cuMemAlloc_v2", "cuMemFree_v2", Memory::device, 0x700000000000, 0, true},
    {"cuMemAllocPitch_v2", "cuMemFree_v2", Memory::pitched, 0x710000000000, 0, true},
    {"cuMemAllocManaged", "cuMemFree_v2", Memory::managed, 0x720000000000, 0, true},
    {"cuMemAllocAsync", "cuMemFreeAsync", Memory::async, 0x730000000000},
    {"cuMemAllocFromPoolAsync", "cuMemFreeAsync", Memory::async, 0x740000000000, kHostPool},
    {"cuMemAllocFromPoolAsync", "cuMemFree_v2", Memory::async, 0x750000000000, kManagedPool},
    {"cuMemAllocAsync", "cuMemFreeAsync", Memory::graph, 0x760000000000, 0, false, true},
    {"cuMemHostAlloc", "cuMemFreeHost", Memory::pinned, 0x100000000000, 0, true},
    {"cuMemHostRegister_v2", "cuMemHostUnregister", Memory::registered, 0x110000000000},
    {"cuArrayCreate_v2", "cuArrayDestroy", Memory::array, 0x120000000000, 0, true},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", Memory::mipmap, 0x130000000000, 0, true},
    {"cuMemAddressReserve", "cuMemAddressFree", Memory::reservation, 0x140000000000},
    {"cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle", Memory::ipc, 0x770000000000, 0, true},
    {"cuImportExternalMemory", "cuDestroyExternalMemory", Memory::external, 0x150000000000, 0,
     true},
};

struct Taken {
    const Kind* kind = nullptr; // nullptr: of the pool
    std::uint64_t address = 0;
    std::uint64_t context = 0;
};

struct Handle {
    std::uint64_t number = 0;
    std::uint64_t references = 1;
};

struct Segment {
    std::uint64_t address = 0;
    std::uint64_t context = 0;
};

template <typename List>
void take_out(List& list, std::size_t at)
{
    list[at] = list.back();
    list.pop_back();
}

class Player {
public:
    Player(std::uint32_t seed, const ProgramOptions& options) : random_(seed), options_(options) {}

    std::vector<Step> play()
    {
        while (steps_.size() < options_.steps) {
            const std::uint64_t move = below(20);
            if (move < 6)
                allocate();
            else if (move < 11)
                free();
            else if (move < 13)
                use_handles();
            else if (move < 16)
                use_pool();
            else
                do_else();
        }
        if (options_.nonsense)
            spoil();
        return std::move(steps_);
    }

private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool once_in(std::uint64_t times) { return below(times) == 0; }

    Step& step(Do what)
    {
        ticks_ += 1 + below(5000);
        Step step;
        step.what = what;
        step.ticks = ticks_;
        step.thread = static_cast<std::uint32_t>(below(options_.threads));
        step.stack = 1 + below(kStacks);
        step.place.context = 1 + below(kContexts);
        step.place.device = device_of(step.place.context);
        return steps_.emplace_back(step);
    }

    void spoil()
    {
        for (Step& step : steps_) {
            if (once_in(8))
                step.bytes = once_in(2) ? kMostNonsense - below(9) : below(64_MiB);
            if (once_in(8))
                step.address = steps_[below(steps_.size())].address + below(2) * 4096;
            if (once_in(20))
                step.slack = once_in(2) ? kMostNonsense : below(1_MiB);
            if (once_in(20))
                step.pooled = !step.pooled;
            if (once_in(20))
                step.place.device = static_cast<std::int64_t>(below(4)) - 1;
        }
    }

    // Memory that a context may have taken along, or that is opened as often as it is closed, does
    // not miss a free when its address comes again.
    static bool may_miss_a_free(const Kind& kind)
    {
        return kind.memory != Memory::registered && kind.memory != Memory::ipc;
    }

    void allocate()
    {
        const Kind& kind = kKinds[below(std::size(kKinds))];
        const std::uint64_t address = kind.first + below(kSlots) * kSlotBytes;
        const auto there = std::find_if(taken_.begin(), taken_.end(), [&](const Taken& block) {
            return block.address == address;
        });
        if (there == taken_.end() || kind.capturing)
            return take(kind, address);
        if (!may_miss_a_free(kind))
            return;
        if (options_.late_frees && options_.threads > 1 && once_in(10)) {
            take_out(taken_, static_cast<std::size_t>(there - taken_.begin()));
            free_late(kind, address);
        } else if (options_.missing_frees && once_in(8)) {
            take_out(taken_, static_cast<std::size_t>(there - taken_.begin()));
            take(kind, address);
        }
    }

    void take(const Kind& kind, std::uint64_t address)
    {
        Step& taken = step(Do::alloc);
        taken.api = kind.alloc;
        taken.memory = kind.memory;
        taken.address = address;
        taken.bytes = 1 + below(kSlotBytes);
        taken.place.pool = kind.pool;
        taken.place.capturing = kind.capturing;
        if (!kind.capturing || once_in(2))
            taken_.push_back({&kind, address, taken.place.context});
    }

    // A handler's record came between the free and its record, and meanwhile another thread was
    // given the address.
    void free_late(const Kind& kind, std::uint64_t address)
    {
        const std::uint64_t freed_ticks = ++ticks_;
        take(kind, address);
        const std::uint32_t other = (steps_.back().thread + 1) % options_.threads;
        step(Do::mark).thread = other;
        Step& freed = step(Do::free);
        freed.thread = other;
        freed.api = kind.free;
        freed.memory = kind.memory;
        freed.address = address;
        freed.ticks = freed_ticks;
    }

    void free()
    {
        Step& freed = step(Do::free);
        if (taken_.empty() || once_in(20)) { // frees what is not there
            const Kind& kind = kKinds[below(std::size(kKinds))];
            freed.api = kind.free;
            freed.memory = kind.memory;
            freed.address = kind.first + kSlots * kSlotBytes;
            return;
        }
        const std::size_t at = below(taken_.size());
        const Taken block = taken_[at];
        freed.api = block.kind ? block.kind->free : "cuMemFree_v2";
        freed.memory = block.kind ? block.kind->memory : Memory::device;
        freed.address = block.address;
        if (!block.kind || !block.kind->capturing) // a graph's may be freed after each launch
            take_out(taken_, at);
    }

    void use_handles()
    {
        const std::uint64_t number = 1 + below(12);
        const auto known =
            std::find_if(handles_.begin(), handles_.end(),
                         [&](const Handle& handle) { return handle.number == number; });
        const std::uint64_t address = 0x600000000000 + below(16) * kSlotBytes;
        const auto mapped = std::find(mapped_.begin(), mapped_.end(), address);
        if (mapped != mapped_.end() && once_in(2)) {
            mapped_.erase(mapped);
            Step& unmap = step(Do::unmap);
            unmap.address = address;
            unmap.bytes = kSlotBytes;
        } else if (known == handles_.end()) {
            handles_.push_back({number});
            Step& create = step(Do::alloc);
            create.api = "cuMemCreate";
            create.memory = Memory::physical;
            create.address = number;
            create.bytes = kSlotBytes;
        } else if (mapped == mapped_.end() && once_in(2)) {
            mapped_.push_back(address);
            Step& map = step(Do::map);
            map.address = address;
            map.bytes = kSlotBytes;
            map.handle = number;
        } else if (once_in(4)) {
            ++known->references;
            step(Do::retain).handle = number;
        } else {
            Step& release = step(Do::free);
            release.api = "cuMemRelease";
            release.memory = Memory::physical;
            release.address = number;
            if (--known->references == 0)
                handles_.erase(known);
        }
    }

    void use_pool()
    {
        const std::uint64_t address = kPooledFirst + below(6) * 2 * kSegmentBytes;
        const auto there = std::find_if(segments_.begin(), segments_.end(),
                                        [&](const Segment& one) { return one.address == address; });
        if (there == segments_.end()) {
            Step& segment = step(Do::segment);
            segment.address = address;
            segment.bytes = kSegmentBytes;
            segments_.push_back({address, segment.place.context});
            return;
        }
        const std::uint64_t at = address + below(32) * 1_MiB;
        const auto is_in = [&](const Taken& block, std::uint64_t first, std::uint64_t bytes) {
            return block.address - first < bytes;
        };
        if (once_in(6)) {
            step(Do::reusable).age = below(20000);
        } else if (once_in(20) && std::none_of(taken_.begin(), taken_.end(), [&](const Taken& one) {
                       return is_in(one, address, kSegmentBytes);
                   })) {
            step(Do::segment_gone).address = address;
            segments_.erase(there);
        } else if (std::none_of(taken_.begin(), taken_.end(),
                                [&](const Taken& one) { return is_in(one, at, 1); })) {
            Step& taken = step(Do::alloc);
            taken.api = "cuMemAlloc_v2";
            taken.memory = Memory::device;
            taken.address = at;
            taken.slack = below(4096);
            taken.bytes = 1 + below(1_MiB - taken.slack - 1);
            taken.pooled = true;
            taken.place.context = there->context;
            taken.place.device = device_of(there->context);
            taken_.push_back({nullptr, at, there->context});
        }
    }

    void do_else()
    {
        switch (below(7)) {
        case 0:
            step(Do::mark);
            return;
        case 6:
            step(Do::sample).bytes = below(kDeviceBytes);
            return;
        case 1:
            step(Do::failed).bytes = below(kSlotBytes);
            return;
        case 2:
            if (!taken_.empty())
                step(Do::share).address = taken_[below(taken_.size())].address;
            return;
        case 3:
            if (options_.ranges)
                step(once_in(2) ? Do::push : Do::pop).handle = below(4);
            return;
        default:
            if (once_in(8))
                destroy_context();
        }
    }

    void destroy_context()
    {
        Step& gone = step(Do::context_gone);
        const std::uint64_t context = gone.place.context;
        gone.handle = context;
        std::erase_if(taken_, [&](const Taken& block) {
            return block.context == context && (!block.kind || block.kind->dies_with_context);
        });
        std::erase_if(segments_, [&](const Segment& one) { return one.context == context; });
    }

    std::mt19937 random_;
    const ProgramOptions& options_;
    std::vector<Step> steps_;
    std::vector<Taken> taken_;
    std::vector<Handle> handles_;
    std::vector<std::uint64_t> mapped_;
    std::vector<Segment> segments_;
    std::uint64_t ticks_ = 1'000'000;
};

} // namespace

std::vector<Step> random_program(std::uint32_t seed, const ProgramOptions& options)
{
    return Player(seed, options).play();
}

} // namespace vramscope::test
