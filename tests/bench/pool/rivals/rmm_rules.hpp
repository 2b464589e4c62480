// tests/bench/pool/rivals/rmm_rules.hpp — the rules of RMM's pool memory resource.
//
// Our pool is compared with it: one stream, over a source of memory that only counts. It keeps
// a list of free blocks in the order of their addresses. A scan finds the best fit, which is always
// cut; neighbours are joined within one upstream block. It grows by what it has, and never gives
// back. RMM's event per free is left out, as there is no driver here.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>

#include "interpose/pool/rounding.hpp"
#include "interpose/pool/upstream.hpp"

namespace vramscope::bench {

template <pool::Upstream U>
class RmmRules {
public:
    // It asks for its first memory before any call needs it.
    RmmRules(U& upstream, std::uint64_t initial_bytes) : upstream_(upstream)
    {
        if (initial_bytes != 0)
            grow(initial_bytes);
    }

    pool::Address allocate(std::uint64_t bytes)
    {
        bytes = pool::round_up(bytes, kAlignment);
        const std::lock_guard guard(mutex_);
        auto best = best_fit(bytes);
        if (best == free_.end()) {
            // Doubles what it has; after a refusal it asks for half, down to what is needed.
            std::uint64_t more = bytes < reserved_ ? reserved_ : bytes;
            while (!grow(more)) {
                if (more == bytes)
                    return 0;
                more = more / 2 < bytes ? bytes : more / 2;
            }
            best = best_fit(bytes);
        }
        Block block = *best;
        if (block.bytes > bytes) {
            *best = {block.address + bytes, block.bytes - bytes, false};
            block.bytes = bytes;
        } else {
            free_.erase(best);
        }
        allocated_.insert(block);
        return block.address;
    }

    void free(pool::Address address)
    {
        const std::lock_guard guard(mutex_);
        const auto at = allocated_.find(Block{address, 0, false});
        const Block block = *at;
        allocated_.erase(at);
        insert(block);
    }

    void synchronise() {}

private:
    struct Block {
        pool::Address address;
        std::uint64_t bytes;
        bool is_head; // upstream's memory begins here
        bool operator<(const Block& other) const { return address < other.address; }
        bool touches(const Block& next) const
        {
            return address + bytes == next.address && !next.is_head;
        }
    };
    static constexpr std::uint64_t kAlignment = 256;

    typename std::list<Block>::iterator best_fit(std::uint64_t bytes)
    {
        auto best = free_.end();
        for (auto at = free_.begin(); at != free_.end(); ++at) {
            if (at->bytes >= bytes && (best == free_.end() || at->bytes < best->bytes))
                best = at;
        }
        return best;
    }

    bool grow(std::uint64_t bytes)
    {
        pool::Address address = 0;
        if (upstream_.allocate(bytes, address) != 0)
            return false;
        reserved_ += bytes;
        insert({address, bytes, true});
        return true;
    }

    void insert(const Block& block)
    {
        auto next = free_.begin();
        while (next != free_.end() && next->address < block.address)
            ++next;
        auto at = free_.insert(next, block);
        if (at != free_.begin() && std::prev(at)->touches(*at)) {
            std::prev(at)->bytes += at->bytes;
            at = std::prev(free_.erase(at));
        }
        if (next != free_.end() && at->touches(*next)) {
            at->bytes += next->bytes;
            free_.erase(next);
        }
    }

    U& upstream_;
    std::mutex mutex_;
    std::list<Block> free_;
    std::set<Block> allocated_;
    std::uint64_t reserved_ = 0;
};

} // namespace vramscope::bench
