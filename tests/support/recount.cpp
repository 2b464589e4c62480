// tests/support/recount.cpp — see recount.hpp; slow on purpose.
#include "tests/support/recount.hpp"

#include <algorithm>
#include <set>

namespace vramscope::test {
namespace {

using format::Memory;

struct Alive {
    Step step;
    Memory memory = Memory::none;   // where it lies
    std::uint64_t references = 0;   // how often a handle is held
    std::set<std::uint64_t> mapped; // addresses
};

bool is_one_of(Memory memory, std::initializer_list<Memory> list)
{
    return std::find(list.begin(), list.end(), memory) != list.end();
}

bool is_host(Memory memory)
{
    return is_one_of(memory, {Memory::pinned, Memory::registered});
}

bool is_own(Memory memory)
{
    return is_host(memory) ||
           is_one_of(memory, {Memory::device, Memory::pitched, Memory::managed, Memory::async,
                              Memory::array, Memory::mipmap, Memory::physical});
}

Memory lies_in(const Step& step)
{
    if (step.memory == Memory::async && step.place.pool == kHostPool)
        return Memory::pinned;
    if (step.memory == Memory::async && step.place.pool == kManagedPool)
        return Memory::managed;
    return step.memory;
}

// Memory from pools outlives the context.
bool dies_with_context(const Step& step)
{
    return is_one_of(step.memory, {Memory::device, Memory::pitched, Memory::managed, Memory::pinned,
                                   Memory::array, Memory::mipmap, Memory::ipc, Memory::external});
}

class Counter {
public:
    explicit Counter(std::uint64_t exit_began_ticks) : exit_began_(exit_began_ticks) {}

    void play(const Step& step)
    {
        ++count_.events;
        switch (step.what) {
        case Do::alloc:
            allocate(step);
            break;
        case Do::free:
            free(step);
            break;
        case Do::map:
            map(step);
            break;
        case Do::unmap:
            unmap(step);
            break;
        case Do::retain:
            handle(step.handle)->references += 1;
            break;
        case Do::context_gone:
            destroy(step);
            break;
        case Do::segment:
            segments_.push_back(step);
            break;
        case Do::segment_gone:
            drop_segments([&](const Step& one) { return one.address == step.address; });
            break;
        case Do::reusable:
            std::erase_if(waiting_, [&](const Step& freed) {
                return freed.ticks + std::min(step.age, step.ticks) <= step.ticks;
            });
            break;
        default:
            break;
        }
        sum_up();
    }

    Recount result()
    {
        for (const Alive& block : alive_)
            lose(block, false);
        return std::move(count_);
    }

private:
    using List = std::vector<Alive>;

    List::iterator find(const Step& step)
    {
        return std::find_if(alive_.begin(), alive_.end(), [&](const Alive& block) {
            return block.memory != Memory::physical && block.step.address == step.address;
        });
    }

    List::iterator handle(std::uint64_t number)
    {
        return std::find_if(alive_.begin(), alive_.end(), [&](const Alive& block) {
            return block.memory == Memory::physical && block.step.address == number &&
                   block.references > 0;
        });
    }

    void allocate(const Step& step)
    {
        ++count_.allocations;
        if (step.memory == Memory::graph) {
            ++count_.graph_allocations;
            graphs_.insert(step.address);
            count_.lost[place_of({step, Memory::graph, 0, {}}, "graph-owned")].bytes += step.bytes;
            count_.lost[place_of({step, Memory::graph, 0, {}}, "graph-owned")].blocks += 1;
            return;
        }
        const Alive block{step, lies_in(step), 1, {}};
        if (is_own(block.memory)) {
            ++count_.memory_allocations;
            count_.allocated_bytes += step.bytes;
        }
        if (const auto there = find(step);
            step.memory != Memory::physical && there != alive_.end()) {
            ++count_.missed_frees;
            alive_.erase(there);
        }
        if (step.pooled) // it was safe, whatever the log said
            std::erase_if(waiting_,
                          [&](const Step& freed) { return freed.address == step.address; });
        alive_.push_back(block);
    }

    void free(const Step& step)
    {
        if (step.memory == Memory::graph && graphs_.count(step.address) > 0) {
            ++count_.frees;
            return;
        }
        const auto block = step.memory == Memory::physical ? handle(step.address) : find(step);
        if (block == alive_.end()) {
            ++count_.unmatched_frees;
            return;
        }
        ++count_.frees;
        block->references -= 1;
        if (block->step.pooled) {
            waiting_.push_back(block->step);
            waiting_.back().ticks = step.ticks;
        }
        bury(block);
    }

    static bool inside(const Step& segment, const Step& block)
    {
        return block.pooled && block.address - segment.address < segment.bytes;
    }

    template <typename Goes>
    void drop_segments(Goes goes)
    {
        for (const Step& segment : segments_)
            if (goes(segment))
                std::erase_if(waiting_, [&](const Step& freed) { return inside(segment, freed); });
        std::erase_if(segments_, goes);
    }

    void map(const Step& step) { handle(step.handle)->mapped.insert(step.address); }

    void unmap(const Step& step)
    {
        for (auto block = alive_.begin(); block != alive_.end(); ++block)
            if (block->mapped.erase(step.address) > 0)
                return bury(block);
    }

    void bury(List::iterator block)
    {
        if (block->references > 0 || !block->mapped.empty())
            return;
        count_.memory_frees += is_own(block->memory);
        alive_.erase(block);
    }

    void destroy(const Step& step)
    {
        const bool by_exit = exit_began_ != 0 && step.ticks >= exit_began_;
        List left;
        for (const Alive& block : alive_) {
            const bool goes =
                block.step.place.context == step.handle && dies_with_context(block.step);
            if (goes)
                lose(block, !by_exit);
            else
                left.push_back(block);
        }
        alive_ = std::move(left);
        drop_segments([&](const Step& one) { return one.place.context == step.handle; });
    }

    static Place place_of(const Alive& block, const char* kind)
    {
        return {kind, block.memory, block.step.place.device, std::string(block.step.api),
                block.step.stack};
    }

    void lose(const Alive& block, bool reset)
    {
        if (block.memory == Memory::reservation) {
            count_.reservations.bytes += block.step.bytes;
            count_.reservations.blocks += 1;
            return;
        }
        const bool foreign = is_one_of(block.memory, {Memory::ipc, Memory::external});
        const char* const kind = foreign ? "unclosed-import"
                                 : reset ? "leaked-at-reset"
                                         : "leaked-at-exit";
        Held& held = count_.lost[place_of(block, kind)];
        held.bytes += block.step.bytes;
        held.blocks += 1;
    }

    void add_segment(const Step& segment, DeviceSums& sums) const
    {
        std::uint64_t active = 0;
        for (const Alive& block : alive_)
            if (inside(segment, block.step)) {
                const std::uint64_t bytes = block.step.bytes + block.step.slack;
                sums.allocated += bytes;
                sums.requested += block.step.bytes;
                active += bytes;
            }
        for (const Step& freed : waiting_)
            if (inside(segment, freed)) {
                sums.pending += freed.bytes + freed.slack;
                active += freed.bytes + freed.slack;
            }
        sums.reserved += segment.bytes;
        (active == 0 ? sums.releasable : sums.stuck) += segment.bytes - active;
    }

    void sum_up()
    {
        count_.device_bytes = count_.host_bytes = 0;
        for (const Alive& block : alive_)
            if (is_own(block.memory))
                (is_host(block.memory) ? count_.host_bytes : count_.device_bytes) +=
                    block.step.bytes;
        count_.peak_device_bytes = std::max(count_.peak_device_bytes, count_.device_bytes);
        count_.peak_host_bytes = std::max(count_.peak_host_bytes, count_.host_bytes);
        for (auto& [device, sums] : count_.pool)
            sums = {.reserved_peak = sums.reserved_peak, .allocated_peak = sums.allocated_peak};
        for (const Step& segment : segments_)
            add_segment(segment, count_.pool[segment.place.device]);
        count_.direct.clear();
        for (const Alive& block : alive_)
            if (is_own(block.memory) && !is_host(block.memory) && !block.step.pooled)
                count_.direct[block.step.place.device] += block.step.bytes;
        for (auto& [device, sums] : count_.pool) {
            sums.reserved_peak = std::max(sums.reserved_peak, sums.reserved);
            sums.allocated_peak = std::max(sums.allocated_peak, sums.allocated);
        }
    }

    std::uint64_t exit_began_;
    Recount count_;
    List alive_;
    std::vector<Step> segments_;
    std::vector<Step> waiting_;      // blocks of segments; their time is that of the free
    std::set<std::uint64_t> graphs_; // addresses
};

} // namespace

Recount recount(std::vector<Step> steps, std::uint64_t exit_began_ticks)
{
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.ticks < b.ticks; });
    Counter counter(exit_began_ticks);
    for (const Step& step : steps)
        counter.play(step);
    return counter.result();
}

} // namespace vramscope::test
