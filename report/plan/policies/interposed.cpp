// report/plan/policies/interposed.cpp — our own pool, by its own code, over a device that counts.
#include "report/plan/policies/interposed.hpp"

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "report/plan/policies/by_block.hpp"

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

pool::Options default_pool_options()
{
    pool::Options options;
    options.max_cached_bytes = pool::kUpToPeak;
    options.wait_from_bytes = 64u << 20;
    return options;
}

namespace {

template <typename Rules>
class PoolPolicy final : public Policy {
public:
    PoolPolicy(CountedDevice& device, const pool::Options& options)
        : upstream_(device), pool_(upstream_, upstream_.epochs, options)
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
        if (pool_.free(block.address) == pool::Freed::surplus)
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
    std::vector<Block> blocks_; // by BlockId
    std::uint64_t allocated_ = 0, retries_ = 0;
};

} // namespace

std::unique_ptr<Policy> make_cache_policy(CountedDevice& device, const pool::Options& options)
{
    return std::make_unique<PoolPolicy<pool::CachePolicy>>(device, options);
}

std::unique_ptr<Policy> make_split_policy(CountedDevice& device, const pool::Options& options)
{
    return std::make_unique<PoolPolicy<pool::SplitPolicy>>(device, options);
}

} // namespace vramscope::report::plan
