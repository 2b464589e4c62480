// report/reach/heap_blocks.cpp — the chunks of glibc's malloc: in heaps, and with a mapping each.
#include "report/reach/heap_blocks.hpp"

#include <algorithm>
#include <optional>

#include "report/reach/memory/glibc_chunks.hpp"
#include "report/reach/memory/memory_window.hpp"
#include "report/reach/python/layout.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kHeaderBytes = 16;

} // namespace

// A chunk's own words begin behind its first one.
Address ChunkStarts::last_before(Address address) const
{
    const auto behind = std::upper_bound(starts_.begin(), starts_.end(), address - sizeof(Address));
    return behind == starts_.begin() ? 0 : *std::prev(behind);
}

void ChunkStarts::note(Address chunk)
{
    if (starts_.empty() || chunk >= starts_.back() + kApart)
        starts_.push_back(chunk);
}

std::vector<HeapBlock> HeapBlocks::around(const Region& region,
                                          const std::vector<Address>& addresses) const
{
    std::vector<HeapBlock> blocks =
        region.kind == RegionKind::heap ? in_heap(region, addresses) : in_mapped(region, addresses);
    if (python_ && python_->has_debug_heads())
        for (HeapBlock& block : blocks)
            while (block.state == HeapBlock::State::live &&
                   block.end - block.begin > python::kDebugHead &&
                   python_->is_debug_head(block.begin)) // two, where malloc's memory has one, too
                block.begin += python::kDebugHead;
    return blocks;
}

// Where a header is none, nothing behind it is known.
std::vector<HeapBlock> HeapBlocks::in_heap(const Region& heap,
                                           const std::vector<Address>& addresses) const
{
    std::vector<HeapBlock> blocks(addresses.size());
    MemoryWindow window(memory_, heap.end);
    // Chunks of a program that runs are joined and cut meanwhile.
    ChunkStarts* const starts = memory_.stopped() ? &starts_[heap.begin] : nullptr;
    Address chunk = heap.first_chunk;
    std::size_t next = 0;
    while (chunk != 0 && next < addresses.size() && addresses[next] < chunk + sizeof(Address))
        blocks[next++].state = HeapBlock::State::unused; // the arena's own
    while (chunk != 0 && next < addresses.size()) {
        if (starts)
            chunk = std::max(chunk, starts->last_before(addresses[next]));
        const std::uint64_t size = window.word(chunk + 8).value_or(0) & ~kChunkFlags;
        if (size < kLeastChunk || size % kChunkAlignment != 0 || size > heap.end - chunk)
            break;
        if (starts)
            starts->note(chunk);
        const Address behind = chunk + size;
        const Address end = behind + sizeof(Address); // the next one's first word is this one's
        if (addresses[next] < end) {
            const std::uint64_t header = window.word(behind + 8).value_or(0); // of the last: none
            const HeapBlock block{{chunk + kHeaderBytes, behind},
                                  (header & kBeforeIsInUse) != 0 &&
                                          !is_list_of_freed(chunk + kHeaderBytes, size)
                                      ? HeapBlock::State::live
                                      : HeapBlock::State::unused};
            while (next < addresses.size() && addresses[next] < end)
                blocks[next++] = block;
        }
        chunk = behind;
    }
    return blocks;
}

// A thread's lists of freed chunks: a number for each, and heads. The number of those that are
// empty is one and the same, and of no other: none is in it, or, since 2.42, all room is left.
bool HeapBlocks::is_list_of_freed(Address begin, std::uint64_t bytes) const
{
    const auto* const known =
        std::find_if(std::begin(kFreedLists), std::end(kFreedLists),
                     [bytes](const FreedLists& lists) { return lists.chunk_bytes == bytes; });
    if (known == std::end(kFreedLists))
        return false;
    std::vector<std::uint16_t> numbers(known->count);
    std::vector<Address> heads(known->count);
    const std::uint64_t numbers_bytes = numbers.size() * sizeof numbers[0];
    if (!memory_.read(begin, numbers.data(), numbers_bytes) ||
        !memory_.read(begin + numbers_bytes, heads.data(), heads.size() * sizeof heads[0]))
        return false;
    const auto empty = std::find(heads.begin(), heads.end(), Address{0});
    const std::uint16_t of_empty =
        empty == heads.end() ? 0 : numbers[static_cast<std::size_t>(empty - heads.begin())];
    for (std::size_t at = 0; at < heads.size(); ++at)
        if ((numbers[at] == of_empty) != (heads[at] == 0))
            return false;
    return true;
}

std::vector<HeapBlock> HeapBlocks::in_mapped(const Region& region,
                                             const std::vector<Address>& addresses) const
{
    std::vector<HeapBlock> blocks(addresses.size());
    Address lowest = region.begin; // nothing begins between this and the address that was looked at
    for (std::size_t at = 0; at < addresses.size(); ++at) {
        const Address address = addresses[at];
        if (at > 0 && blocks[at - 1].state == HeapBlock::State::live &&
            address < blocks[at - 1].end)
            blocks[at] = blocks[at - 1];
        else if (const auto pool = python_ ? python_->pool_block(region, address) : std::nullopt)
            blocks[at] = {*pool, pool->free ? HeapBlock::State::unused : HeapBlock::State::live};
        else
            blocks[at] = own_mapping(address, lowest, region.end);
        lowest = std::max(lowest, address / kPageBytes * kPageBytes);
    }
    return blocks;
}

// A chunk with a mapping to itself begins at a page; several may look like one mapping.
HeapBlock HeapBlocks::own_mapping(Address address, Address lowest, Address end) const
{
    constexpr Address kFarthest = 256 << 20;
    constexpr std::size_t kPagesAtOnce = 64;
    std::vector<std::uint64_t> words;
    const Address first = std::max(lowest, address - std::min(address, kFarthest));
    for (Address high = address / kPageBytes * kPageBytes + kPageBytes; high > first;) {
        const Address low = std::max(first / kPageBytes * kPageBytes,
                                     high - std::min(high, kPagesAtOnce * kPageBytes));
        words.assign((high - low) / sizeof(std::uint64_t), 0);
        if (high > end || !memory_.read(low, words.data(), high - low))
            return {};
        for (Address page = high; page > low;) {
            page -= kPageBytes;
            const std::uint64_t* const head = &words[(page - low) / sizeof words[0]];
            const std::uint64_t size = head[1] & ~kChunkFlags;
            if (head[0] == 0 && (head[1] & kChunkFlags) == kHasOwnMapping &&
                size % kPageBytes == 0 && size > address - page && size <= end - page)
                return {{page + kHeaderBytes, page + size}, HeapBlock::State::live};
        }
        high = low;
    }
    return {};
}

} // namespace vramscope::report
