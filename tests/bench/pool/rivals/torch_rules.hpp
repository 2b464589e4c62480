// tests/bench/pool/rivals/torch_rules.hpp — the rules of PyTorch's caching allocator.
//
// Our pool is compared with it: one stream, over a source of memory that only counts. Like
// PyTorch's, it has sets ordered by (size, address), a sharded map from pointers and a recursive
// mutex. It has no streams, graphs or expandable segments; a freed block is free at once, as it is
// on its own stream.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>

#include "interpose/pool/rounding.hpp"
#include "interpose/pool/upstream.hpp"

namespace vramscope::bench {

template <pool::Upstream U>
class TorchRules {
public:
    TorchRules(U& upstream, const pool::Options& options) : upstream_(upstream), options_(options)
    {
    }

    pool::Address allocate(std::uint64_t bytes)
    {
        const std::uint64_t rounded = pool::round_block(options_, bytes);
        const pool::Kind kind = pool::kind_of(rounded);
        const std::lock_guard guard(mutex_);
        Block* block = find_free(kind, rounded);
        if (!block)
            block = grow(kind, rounded);
        if (!block) {
            release_cached();
            block = grow(kind, rounded);
        }
        if (!block)
            return 0;
        cut(block, rounded);
        block->allocated = true;
        Shard& shard = shard_of(block->address);
        const std::lock_guard shard_guard(shard.mutex);
        shard.blocks[block->address] = block;
        return block->address;
    }

    void free(pool::Address address)
    {
        Block* block = nullptr;
        {
            Shard& shard = shard_of(address);
            const std::lock_guard shard_guard(shard.mutex);
            const auto at = shard.blocks.find(address);
            block = at->second;
            shard.blocks.erase(at);
        }
        const std::lock_guard guard(mutex_);
        block->allocated = false;
        join(block, block->previous);
        join(block, block->next);
        free_[block->kind].insert(block);
    }

    void synchronise() {}

private:
    struct Block {
        pool::Address address;
        std::uint64_t bytes;
        pool::Kind kind;
        bool allocated;
        Block *previous, *next; // in the segment
    };
    struct BySize {
        bool operator()(const Block* a, const Block* b) const
        {
            return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
        }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<pool::Address, Block*> blocks;
    };
    static constexpr std::uint64_t kMostUnsplit = 20u << 20;

    Shard& shard_of(pool::Address address)
    {
        return shards_[(address * 0x9e3779b97f4a7c15u >> 32) % shards_.size()];
    }

    Block* find_free(pool::Kind kind, std::uint64_t rounded)
    {
        Block key{0, rounded, kind, false, nullptr, nullptr};
        const auto at = free_[kind].lower_bound(&key);
        if (at == free_[kind].end())
            return nullptr;
        Block* const block = *at;
        const std::uint64_t most = options_.max_split_bytes;
        if (rounded < most ? block->bytes >= most : block->bytes >= rounded + kMostUnsplit)
            return nullptr;
        free_[kind].erase(at);
        return block;
    }

    Block* grow(pool::Kind kind, std::uint64_t rounded)
    {
        const std::uint64_t bytes = pool::round_segment(rounded);
        pool::Address address = 0;
        if (upstream_.allocate(bytes, address) != 0)
            return nullptr;
        return new Block{address, bytes, kind, false, nullptr, nullptr};
    }

    void cut(Block* block, std::uint64_t rounded)
    {
        const std::uint64_t rest = block->bytes - rounded;
        if (block->kind == pool::kSmall
                ? rest < pool::kLeastBlock
                : rounded >= options_.max_split_bytes || rest <= pool::kSmallBytes)
            return;
        auto* const behind =
            new Block{block->address + rounded, rest, block->kind, false, block, block->next};
        if (block->next)
            block->next->previous = behind;
        block->next = behind;
        block->bytes = rounded;
        free_[block->kind].insert(behind);
    }

    void join(Block* block, Block* neighbour)
    {
        if (!neighbour || neighbour->allocated)
            return;
        free_[neighbour->kind].erase(neighbour);
        if (neighbour == block->previous) {
            block->address = neighbour->address;
            block->previous = neighbour->previous;
            if (block->previous)
                block->previous->next = block;
        } else {
            block->next = neighbour->next;
            if (block->next)
                block->next->previous = block;
        }
        block->bytes += neighbour->bytes;
        delete neighbour;
    }

    void release_cached()
    {
        for (auto& blocks : free_) {
            for (auto at = blocks.begin(); at != blocks.end();) {
                Block* const block = *at;
                if (block->previous || block->next) {
                    ++at;
                    continue;
                }
                upstream_.release(block->address, pool::Release::pressure);
                at = blocks.erase(at);
                delete block;
            }
        }
    }

    U& upstream_;
    const pool::Options options_;
    std::recursive_mutex mutex_;
    std::set<Block*, BySize> free_[2];
    std::array<Shard, 67> shards_;
};

} // namespace vramscope::bench
