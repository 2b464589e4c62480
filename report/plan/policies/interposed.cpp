// report/plan/policies/interposed.cpp — our own pool, by its own code, over a device that counts.
#include "report/plan/policies/interposed.hpp"

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "report/plan/policies/by_block.hpp"
#include "report/plan/policies/knobs.hpp"

namespace vramscope::report::plan {

int CountedUpstream::allocate(std::uint64_t bytes, pool::Address& address)
{
    if (!pages_.allocate(bytes, address))
        return kOutOfMemory;
    bytes_.insert(address, bytes);
    return 0;
}

int CountedUpstream::release(pool::Address address, pool::Release)
{
    auto* const entry = bytes_.find(address);
    pages_.release(address, entry->value);
    bytes_.erase(entry);
    return 0;
}

int CountedUpstream::synchronise()
{
    epochs.ended(domain_, epochs.begin());
    return 0;
}

InterposedOptions parse_interposed_options(std::string_view knobs)
{
    InterposedOptions options;
    options.pool.max_cached_bytes = pool::kUpToPeak;
    options.pool.wait_from_bytes = 64u << 20;
    for (const Knob& knob : parse_knobs(knobs)) {
        if (set_pool_knob(knob, options.pool))
            continue;
        if (knob.key == "wait_from")
            options.pool.wait_from_bytes = knob.bytes_or("off", pool::kNoLimit);
        else if (knob.key == "max_cached")
            options.pool.max_cached_bytes =
                knob.value == "peak" ? pool::kUpToPeak : knob.bytes_or("off", pool::kNoLimit);
        else if (knob.key == "per_process_memory_fraction")
            options.fraction = knob.part();
        else if (knob.key == "sync" && (knob.value == "lazy" || knob.value == "strict"))
            options.strict = knob.value == "strict";
        else
            knob.unknown();
    }
    return options;
}

namespace {

pool::Options options_on(const CountedDevice& device, const InterposedOptions& options)
{
    pool::Options result = options.pool;
    const double fraction = options.fraction > 0 ? options.fraction : 1;
    const bool bounded = options.fraction > 0 || result.garbage_collection_threshold > 0;
    if (bounded && device.total() != CountedDevice::kNoLimit)
        result.allowed_bytes =
            static_cast<std::uint64_t>(fraction * static_cast<double>(device.total()));
    return result;
}

template <typename Rules>
class PoolPolicy final : public Policy {
public:
    PoolPolicy(CountedDevice& device, const InterposedOptions& options)
        : upstream_(device), pool_(upstream_, upstream_.epochs, options_on(device, options)),
          strict_(options.strict)
    {
    }

    bool start(const std::vector<StartSegment>& segments) override
    {
        return allocate_start_blocks(*this, segments);
    }
    bool allocate(const Request& request) override
    {
        const pool::Allocation answer = pool_.allocate(request.bytes);
        retries_ += answer.retried;
        if (answer.status != 0)
            return false;
        entry_of(blocks_, request.block) = {answer.address, answer.block_bytes};
        allocated_ += answer.block_bytes;
        return true;
    }
    void free(const Request& request) override
    {
        const Block& block = blocks_[request.block];
        allocated_ -= block.bytes;
        if (strict_) // before the free, as in the program
            upstream_.synchronise();
        const pool::Freed what = pool_.free(block.address);
        if (strict_ && what == pool::Freed::cached) // and behind it
            upstream_.synchronise();
        if (what == pool::Freed::surplus)
            pool_.settle();
    }
    void synchronise(const Request&) override { upstream_.synchronise(); }

    std::uint64_t address(BlockId block) const override { return blocks_[block].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t retries() const override { return retries_; }
    std::uint64_t largest_free() const override { return pool_.largest_gap(); }

private:
    struct Block {
        std::uint64_t address = 0, bytes = 0;
    };
    CountedUpstream upstream_;
    pool::Pool<CountedUpstream, Rules> pool_;
    const bool strict_;
    std::vector<Block> blocks_; // by BlockId
    std::uint64_t allocated_ = 0, retries_ = 0;
};

} // namespace

std::unique_ptr<Policy> make_cache_policy(CountedDevice& device, const InterposedOptions& options)
{
    return std::make_unique<PoolPolicy<pool::CachePolicy>>(device, options);
}

std::unique_ptr<Policy> make_split_policy(CountedDevice& device, const InterposedOptions& options)
{
    return std::make_unique<PoolPolicy<pool::SplitPolicy>>(device, options);
}

} // namespace vramscope::report::plan
