// report/replay/heap/sites.hpp — the places that allocate: how much each has, and has had.
//
// A site is what a reader would call one place: a call stack, an entry point, a kind of memory, a
// device, a context and the NVTX ranges around it. Numbers of sites are dense and stay as they are:
// what else is to be known of each is kept in vectors elsewhere. Memory grows with sites alone, and
// after kMostSites stacks are told apart no more.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/lookup/random_seed.hpp"

namespace vramscope::report {

// What allocates first after so many sites is one more for each kind, device and context, so that
// what a log makes its reader keep is bounded.
inline constexpr std::size_t kMostSites = 100'000;
inline constexpr std::uint64_t kOtherStacks = UINT64_MAX; // the stack of these

// What tells sites apart.
struct SiteKey {
    std::uint64_t stack = 0;
    PhaseKind phase = 0; // Phases::kind_path() has its names
    std::uint32_t context = 0;
    std::int16_t device = -1;
    std::uint16_t api = 0;
    format::Memory memory = format::Memory::none;
    bool operator==(const SiteKey&) const = default;
};

struct alignas(64) Site : SiteKey { // in no more lines of the cache than it needs
    auto state() noexcept
    {
        return std::tie(stack, phase, context, device, api, memory, live_bytes, live_blocks,
                        allocations, allocated_bytes, frees, first_ticks, last_ticks);
    }
    std::uint64_t live_bytes = 0;
    std::uint64_t live_blocks = 0;
    std::uint64_t allocations = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t frees = 0; // what the program freed: not what went with a context, or unseen
    std::uint64_t first_ticks = 0;
    std::uint64_t last_ticks = 0; // when it allocated last
};

// What a site lost when its context was destroyed.
struct SiteLoss {
    SiteId site = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// What a site had at one moment.
struct SiteShare {
    SiteId site = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

class Sites {
public:
    // Gives the block its site, and the site's stack. `phase`: of the ranges that are open around
    // it.
    void place(Block& block, PhaseKind phase);

    void enter(const Block& block); // it is alive from here
    void leave(const Block& block); // it is alive here no longer
    void count_free(const Block& block) noexcept { ++sites_[block.site].frees; }
    void resize(const Block& block, std::uint64_t bytes) noexcept; // its size was not known before

    // What dies with this context is gone. Valid until the next call.
    std::span<const SiteLoss> destroy(std::uint32_t context);

    // Of a block, or recent().
    void prefetch(SiteId site) const noexcept
    {
        if (!sites_.empty())
            report::prefetch(&sites_[site]);
    }
    // Of the last block with this stack, for prefetching: perhaps the next one has another.
    SiteId recent(std::uint64_t stack) const noexcept { return recent_[stack % recent_.size()]; }
    const std::vector<Site>& all() const noexcept { return sites_; }
    const Site& operator[](SiteId site) const noexcept { return sites_[site]; }

    auto state() noexcept { return std::tie(sites_, mortal_of_context_); } // see report/checkpoint
    bool rebuild();

private:
    static constexpr SiteId kNone = UINT32_MAX;

    void list(SiteId site);
    SiteId find_or_add(const SiteKey& key, std::uint64_t ticks);
    std::uint64_t hash(const SiteKey& key) const noexcept;

    std::array<SiteId, 4096> recent_{}; // indexed by stack, modulo their number
    std::vector<Site> sites_;
    std::vector<SiteId> next_of_hash_; // for each of sites_
    std::vector<bool> listed_;         // in mortal_of_context_
    FlatMap<SiteId> by_hash_;
    // Those that may have something that dies with the context.
    std::vector<std::vector<SiteId>> mortal_of_context_;
    std::vector<SiteLoss> losses_;
    std::uint64_t seed_ = random_seed();
};

} // namespace vramscope::report
