// report/reach/books.cpp — kinds of holders that every block of the driver's has.
#include "report/reach/books.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/reach/driver_reach.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastGiven = 4; // of fewer blocks, a piece of the program's may have all
constexpr std::size_t kMostSamples = 8;

// What holders that one piece of code makes have in common.
struct HolderShape {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    bool operator<(const HolderShape& other) const
    {
        return std::tie(bytes, offset) < std::tie(other.bytes, other.offset);
    }
};

bool is_same(const HolderShape& one, const HolderShape& other)
{
    return one.bytes == other.bytes && one.offset == other.offset;
}

struct ShapedPointer {
    FoundPointer pointer;
    HeapBlock block;
    HolderShape shape;
};

// malloc gives 16 bytes more where the rest would be too small for a chunk.
void join_larger(std::vector<ShapedPointer>& shaped)
{
    constexpr std::uint64_t kMore = 16;
    std::set<HolderShape> shapes;
    for (const ShapedPointer& one : shaped)
        shapes.insert(one.shape);
    for (ShapedPointer& one : shaped)
        if (shapes.contains({one.shape.bytes - kMore, one.shape.offset}))
            one.shape.bytes -= kMore;
}

std::vector<ShapedPointer> shapes_of(const std::vector<FoundPointer>& found,
                                     const SearchedMemory& searched)
{
    std::vector<ShapedPointer> shaped;
    for (std::size_t at = 0; at < found.size();) {
        const Region* const region = searched.map.find(found[at].word);
        std::vector<Address> words;
        const std::size_t first = at;
        for (; at < found.size() && (!region || found[at].word < region->end); ++at)
            words.push_back(found[at].word);
        if (!region || region->kind != RegionKind::heap)
            continue;
        const std::vector<HeapBlock> blocks = searched.heap.around(*region, words);
        for (std::size_t i = 0; i < blocks.size(); ++i)
            if (blocks[i].state == HeapBlock::State::live)
                shaped.push_back({found[first + i],
                                  blocks[i],
                                  {blocks[i].end - blocks[i].begin, words[i] - blocks[i].begin}});
    }
    join_larger(shaped);
    return shaped;
}

using Counts = std::map<HolderShape, std::map<Address, std::size_t>>; // by the block's beginning

Counts count(const std::vector<ShapedPointer>& shaped)
{
    Counts counts;
    for (const ShapedPointer& one : shaped)
        ++counts[one.shape][one.pointer.value];
    return counts;
}

// How often the books have a block that the driver gave out; 0: they do not have all of them.
std::size_t times_in(const std::map<Address, std::size_t>& counts,
                     const std::vector<Address>& given)
{
    std::size_t least = SIZE_MAX;
    for (const Address address : given) {
        const auto found = counts.find(address);
        least = std::min(least, found == counts.end() ? 0 : found->second);
    }
    return given.size() < kLeastGiven ? 0 : least;
}

// A few of the holders of each shape, by their beginnings.
std::map<HolderShape, std::vector<Address>> samples_of(const std::vector<ShapedPointer>& shaped,
                                                       const std::set<HolderShape>& shapes)
{
    std::map<HolderShape, std::vector<Address>> samples;
    for (const ShapedPointer& one : shaped)
        if (shapes.contains(one.shape))
            samples[one.shape].push_back(one.block.begin);
    for (auto& [shape, all] : samples) {
        std::sort(all.begin(), all.end());
        const std::size_t step = (all.size() + kMostSamples - 1) / kMostSamples;
        std::vector<Address> few;
        for (std::size_t at = 0; at < all.size(); at += step)
            if (few.empty() || few.back() != all[at])
                few.push_back(all[at]);
        all = std::move(few);
    }
    return samples;
}

// Those of the shapes to which the driver's own variables lead: to all of some holders.
std::set<HolderShape> shapes_of_the_driver(const std::set<HolderShape>& shapes,
                                           const std::vector<ShapedPointer>& shaped,
                                           const SearchedMemory& searched)
{
    const auto samples = samples_of(shaped, shapes);
    std::set<Address> blocks;
    for (const auto& [shape, few] : samples)
        blocks.insert(few.begin(), few.end());
    const std::set<Address> led_to = led_to_by_the_driver(searched, blocks);
    std::set<HolderShape> theirs;
    for (const auto& [shape, few] : samples)
        if (std::all_of(few.begin(), few.end(),
                        [&](Address begin) { return led_to.contains(begin); }))
            theirs.insert(shape);
    return theirs;
}

} // namespace

std::vector<FoundPointer> without_books(std::vector<FoundPointer> found,
                                        const SearchedMemory& searched,
                                        const std::vector<std::vector<Address>>& given)
{
    const std::vector<ShapedPointer> shaped = shapes_of(found, searched);
    const Counts counts = count(shaped);
    std::set<HolderShape> with_all; // that the driver gave out of a kind
    for (const auto& [shape, of_block] : counts)
        for (const std::vector<Address>& blocks : given)
            if (times_in(of_block, blocks) > 0)
                with_all.insert(shape);
    if (with_all.empty())
        return found;
    std::set<Address> theirs; // words
    for (const HolderShape& shape : shapes_of_the_driver(with_all, shaped, searched)) {
        const std::map<Address, std::size_t>& of_block = counts.at(shape);
        for (const std::vector<Address>& blocks : given) {
            const std::size_t times = times_in(of_block, blocks);
            // A block with more holders of that shape is held by somebody else too.
            for (const ShapedPointer& one : shaped)
                if (times > 0 && is_same(one.shape, shape) &&
                    of_block.at(one.pointer.value) <= times &&
                    std::binary_search(blocks.begin(), blocks.end(), one.pointer.value))
                    theirs.insert(one.pointer.word);
        }
    }
    std::erase_if(found,
                  [&](const FoundPointer& pointer) { return theirs.contains(pointer.word); });
    return found;
}

} // namespace vramscope::report
