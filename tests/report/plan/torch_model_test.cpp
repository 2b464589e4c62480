// tests/report/plan/torch_model_test.cpp — PyTorch's rules beside a slow and simple model of them.
//
// The model has one list of blocks in the order of their addresses and looks at all of them for
// each request: default rules, max_split_size and streams, without expandable segments.
#include <map>

#include <gtest/gtest.h>

#include "tests/report/plan/requests.hpp"

namespace vramscope::test {
namespace {

class Model {
public:
    Model(std::uint64_t capacity, std::uint64_t most_split)
        : device_(capacity), most_split_(most_split)
    {
    }

    // Where the block is; 0: out of memory.
    std::uint64_t allocate(std::uint64_t bytes, unsigned stream)
    {
        const std::uint64_t rounded = bytes < 512 ? 512 : (bytes + 511) / 512 * 512;
        Blocks::iterator best = find(rounded, stream);
        if (best == blocks_.end())
            best = grow(rounded, stream);
        if (best == blocks_.end() && most_split_ < CountedDevice::kNoLimit &&
            release_oversize(rounded, stream))
            best = grow(rounded, stream);
        if (best == blocks_.end()) {
            flush();
            best = grow(rounded, stream);
        }
        if (best == blocks_.end())
            return 0;
        cut(best, rounded);
        best->second.live = true;
        allocated += best->second.bytes;
        return best->first;
    }

    void free(std::uint64_t address)
    {
        const auto block = blocks_.find(address);
        block->second.live = false;
        allocated -= block->second.bytes;
        for (auto at = blocks_.begin(); at != blocks_.end();) {
            const auto next = std::next(at);
            if (next != blocks_.end() && !at->second.live && !next->second.live &&
                at->second.segment == next->second.segment) {
                at->second.bytes += next->second.bytes;
                blocks_.erase(next);
            } else {
                at = next;
            }
        }
    }

    void flush()
    {
        for (auto at = blocks_.begin(); at != blocks_.end();)
            at = is_whole(at) ? release(at) : std::next(at);
    }

    std::uint64_t reserved() const { return device_.reserved(); }
    std::uint64_t allocated = 0;

private:
    struct Block {
        std::uint64_t bytes, segment;
        std::uint64_t segment_bytes;
        unsigned stream;
        bool small, live;
    };
    using Blocks = std::map<std::uint64_t, Block>;

    bool is_whole(Blocks::iterator at) const
    {
        return !at->second.live && at->second.bytes == at->second.segment_bytes;
    }
    Blocks::iterator release(Blocks::iterator at)
    {
        device_.release(at->first, at->second.bytes);
        return blocks_.erase(at);
    }

    Blocks::iterator find(std::uint64_t bytes, unsigned stream)
    {
        auto best = blocks_.end();
        for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
            const Block& block = at->second;
            if (!block.live && block.stream == stream && block.small == (bytes <= 1_MiB) &&
                block.bytes >= bytes && (best == blocks_.end() || block.bytes < best->second.bytes))
                best = at;
        }
        if (best == blocks_.end())
            return best;
        const std::uint64_t found = best->second.bytes;
        const bool refused = bytes < most_split_ ? found >= most_split_ : found >= bytes + 20_MiB;
        return refused ? blocks_.end() : best;
    }

    Blocks::iterator grow(std::uint64_t bytes, unsigned stream)
    {
        const std::uint64_t segment = bytes <= 1_MiB   ? 2_MiB
                                      : bytes < 10_MiB ? 20_MiB
                                                       : (bytes + 2_MiB - 1) / 2_MiB * 2_MiB;
        std::uint64_t address = 0;
        if (!device_.allocate(segment, address))
            return blocks_.end();
        const Block block{segment, address, segment, stream, bytes <= 1_MiB, false};
        return blocks_.emplace(address, block).first;
    }

    void cut(Blocks::iterator at, std::uint64_t bytes)
    {
        const std::uint64_t rest = at->second.bytes - bytes;
        const bool cuts = at->second.small ? rest >= 512 : rest > 1_MiB && bytes < most_split_;
        if (!cuts)
            return;
        Block behind = at->second;
        behind.bytes = rest;
        at->second.bytes = bytes;
        blocks_.emplace(at->first + bytes, behind);
    }

    bool release_oversize(std::uint64_t bytes, unsigned stream)
    {
        const std::uint64_t least = std::max(bytes, most_split_);
        auto enough = blocks_.end();
        std::multimap<std::pair<std::uint64_t, std::uint64_t>, Blocks::iterator> oversize;
        for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
            const Block& block = at->second;
            if (block.live || block.stream != stream || block.small != (bytes <= 1_MiB))
                continue;
            if (block.bytes >= least &&
                (enough == blocks_.end() || block.bytes < enough->second.bytes))
                enough = at;
            if (block.bytes >= most_split_)
                oversize.insert({{block.bytes, at->first}, at});
        }
        if (enough != blocks_.end()) {
            release(enough);
            return true;
        }
        std::uint64_t released = 0;
        for (auto at = oversize.rbegin(); at != oversize.rend() && released < least; ++at) {
            released += at->second->second.bytes;
            release(at->second);
        }
        return released >= least;
    }

    CountedDevice device_;
    const std::uint64_t most_split_;
    Blocks blocks_;
};

void compare(unsigned seed, const std::string& knobs, std::uint64_t most_split,
             std::uint64_t capacity)
{
    const Requests requests = random_requests(seed, 1500, 2);
    TorchSteps torch(knobs, capacity);
    Model model(capacity, most_split);
    std::map<BlockId, std::pair<BlockId, std::uint64_t>> blocks; // the policy's, and the model's
    for (const Request& request : requests.trace.requests) {
        if (request.action == Action::allocate) {
            const BlockId block = torch.allocate(request.bytes, request.stream);
            const std::uint64_t address = model.allocate(request.bytes, request.stream);
            ASSERT_EQ(block == TorchSteps::kNone, address == 0) << seed;
            if (address == 0)
                continue;
            ASSERT_EQ(torch.address(block), address) << seed;
            blocks[request.block] = {block, address};
        } else if (request.action == Action::free && blocks.count(request.block)) {
            torch.free(blocks[request.block].first);
            model.free(blocks[request.block].second);
        } else if (request.action == Action::synchronise) {
            torch.empty_cache();
            model.flush();
        }
        ASSERT_EQ(torch.device.reserved(), model.reserved()) << seed;
        ASSERT_EQ(torch.policy.allocated(), model.allocated) << seed;
        ASSERT_EQ(torch.wrong, "") << seed;
    }
}

TEST(TorchModel, DefaultRules)
{
    for (unsigned seed = 0; seed < 6; ++seed)
        compare(seed, "", CountedDevice::kNoLimit, seed % 2 ? 300_MiB : CountedDevice::kNoLimit);
}

TEST(TorchModel, MaxSplitSize)
{
    for (unsigned seed = 10; seed < 16; ++seed)
        compare(seed, "max_split_size_mb:20", 20_MiB, seed % 2 ? 300_MiB : CountedDevice::kNoLimit);
}

// These have no model: all is as it must be after each step, and nothing lives at the end.
TEST(TorchModel, EveryKnobKeepsItsBlocksInOrder)
{
    for (const char* const knobs :
         {"expandable_segments:True", "expandable_segments:True,max_split_size_mb:20",
          "roundup_power2_divisions:[1:2,8:8,>:4]",
          "garbage_collection_threshold:0.4,per_process_memory_fraction:0.9"}) {
        TorchSteps torch(knobs, 300_MiB);
        std::map<BlockId, BlockId> blocks;
        for (const Request& request : random_requests(5, 1500, 2).trace.requests) {
            if (request.action == Action::allocate) {
                const BlockId block = torch.allocate(request.bytes, request.stream);
                if (block != TorchSteps::kNone)
                    blocks[request.block] = block;
            } else if (request.action == Action::free && blocks.count(request.block)) {
                torch.free(blocks[request.block]);
                blocks.erase(request.block);
            }
            ASSERT_EQ(torch.wrong, "") << knobs;
        }
        for (const auto& [request, block] : blocks)
            torch.free(block);
        torch.empty_cache();
        EXPECT_EQ(torch.device.reserved(), 0u) << knobs;
        EXPECT_EQ(torch.policy.allocated(), 0u) << knobs;
        EXPECT_EQ(torch.wrong, "") << knobs;
    }
}

} // namespace
} // namespace vramscope::test
