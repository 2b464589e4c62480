// report/plan/replay/replay.cpp — a trace's requests, answered by a policy on a device.
#include "report/plan/replay/replay.hpp"

#include <algorithm>

namespace vramscope::report::plan {
namespace {

class Replay {
public:
    Replay(const Trace& trace, Policy& policy, CountedDevice& device)
        : trace_(trace), policy_(policy), device_(device), bytes_(trace.sites.size(), kNotThere)
    {
    }

    Outcome run(bool stop_at_shortage, const Step& step)
    {
        if (!start())
            return finish();
        for (; at_ < trace_.requests.size(); ++at_) {
            answer(trace_.requests[at_]);
            if (step)
                step(at_, policy_, device_, outcome_);
            if (stop_at_shortage && outcome_.out_of_memory)
                break;
        }
        return finish();
    }

private:
    static constexpr std::uint64_t kNotThere = ~std::uint64_t{0};

    bool start()
    {
        if (!policy_.start(trace_.at_start)) {
            short_of({}, false);
            return false;
        }
        for (const StartSegment& segment : trace_.at_start)
            for (const StartBlock& block : segment.blocks)
                born(block.block, block.bytes);
        note_level();
        return true;
    }

    void answer(const Request& request)
    {
        switch (request.action) {
        case Action::allocate:
            if (policy_.allocate(request))
                born(request.block, request.bytes);
            else
                short_of(request, false);
            break;
        case Action::free:
            if (died(request.block))
                policy_.free(request);
            break;
        case Action::free_later:
            if (died(request.block)) {
                bytes_[request.block] = kNotReady;
                policy_.free_later(request);
            }
            break;
        case Action::ready:
            if (is(request.block, kNotReady)) {
                bytes_[request.block] = kNotThere;
                policy_.ready(request);
            }
            break;
        case Action::synchronise:
            policy_.synchronise(request);
            break;
        case Action::empty_cache:
            policy_.empty_cache(request);
            break;
        case Action::take_beside:
            take_beside(request);
            break;
        case Action::give_beside:
            if (died(request.block, false))
                device_.vacate(request.bytes);
            break;
        }
        note_level();
    }

    void take_beside(const Request& request)
    {
        if (device_.occupy(request.bytes))
            entry(request.block) = request.bytes;
        else
            short_of(request, true);
    }

    std::uint64_t& entry(BlockId block)
    {
        if (block >= bytes_.size())
            bytes_.resize(std::max<std::size_t>(block + std::size_t{1}, 2 * bytes_.size()),
                          kNotThere);
        return bytes_[block];
    }
    bool is(BlockId block, std::uint64_t value) const
    {
        return block < bytes_.size() && bytes_[block] == value;
    }
    void born(BlockId block, std::uint64_t bytes)
    {
        entry(block) = bytes;
        requested_ += bytes;
    }
    bool died(BlockId block, bool is_policys = true)
    {
        if (block >= bytes_.size() || bytes_[block] >= kNotReady)
            return false;
        requested_ -= is_policys ? bytes_[block] : 0;
        bytes_[block] = kNotThere;
        return true;
    }

    void note_level()
    {
        const std::uint64_t allocated = policy_.allocated();
        outcome_.peak_allocated = std::max(outcome_.peak_allocated, allocated);
        if (device_.reserved() <= outcome_.peak.reserved)
            return;
        outcome_.peak = {device_.reserved(), allocated, requested_, at_};
    }

    void short_of(const Request& request, bool is_beside)
    {
        ++outcome_.shortages;
        if (outcome_.out_of_memory)
            return;
        outcome_.out_of_memory = Shortage{.request = at_,
                                          .block = request.block,
                                          .bytes = request.bytes,
                                          .reserved = device_.reserved(),
                                          .allocated = policy_.allocated(),
                                          .beside = device_.beside(),
                                          .largest_free = policy_.largest_free(),
                                          .is_beside = is_beside};
    }

    Outcome finish()
    {
        outcome_.device_calls = device_.calls();
        outcome_.retries = policy_.retries();
        return outcome_;
    }

    static constexpr std::uint64_t kNotReady = kNotThere - 1;

    const Trace& trace_;
    Policy& policy_;
    CountedDevice& device_;
    std::vector<std::uint64_t> bytes_; // as asked for, by BlockId
    std::uint64_t requested_ = 0;
    std::size_t at_ = 0;
    Outcome outcome_;
};

} // namespace

Outcome replay(const Trace& trace, Policy& policy, CountedDevice& device, bool stop_at_shortage,
               const Step& step)
{
    return Replay(trace, policy, device).run(stop_at_shortage, step);
}

Outcome replay(const Trace& trace, const PolicyRow& row, const ReplayOptions& options)
{
    const bool limited = options.capacity != CountedDevice::kNoLimit;
    const std::uint64_t others = limited ? std::min(trace.base_bytes, options.capacity) : 0;
    CountedDevice device(options.capacity - others, options.capacity);
    const std::unique_ptr<Policy> policy = row.make(device);
    return replay(trace, *policy, device, options.stop_at_shortage);
}

} // namespace vramscope::report::plan
