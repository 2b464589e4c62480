// report/reach/books.cpp — kinds of holders that every block of the driver's has.
#include "report/reach/books.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "report/reach/steps_down.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastGiven = 4; // of fewer blocks, a piece of the program's may have all

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

std::set<Address> holders_of(const std::set<HolderShape>& shapes,
                             const std::vector<ShapedPointer>& shaped)
{
    std::set<Address> holders;
    for (const ShapedPointer& one : shaped)
        if (shapes.contains(one.shape))
            holders.insert(one.block.begin);
    return holders;
}

// Holders to which the driver's own variables lead. What is of a class that is known is none: each
// tensor has an object of its own, to which much may lead.
StepsTo led_to_by_the_driver(const std::set<Address>& holders, const SearchedMemory& searched)
{
    StepsTo steps = steps_from_the_driver(searched, holders);
    std::erase_if(steps, [&](const auto& one) {
        return searched.modules.is_of_class(searched.memory.word(one.first));
    });
    return steps;
}

std::set<Address> keys_of(const StepsTo& steps)
{
    std::set<Address> keys;
    for (const auto& [holder, count] : steps)
        keys.insert(holder);
    return keys;
}

// Of these, those that are nearer to the program.
std::set<Address> nearer_to_the_program(const StepsTo& steps, const SearchedMemory& searched,
                                        const std::vector<Address>& handles)
{
    std::set<Address> nearer;
    unsigned most = 1;
    for (const auto& [holder, count] : steps)
        most = std::max(most, count);
    for (const auto& [holder, count] :
         steps_from_the_program(searched, keys_of(steps), handles, most - 1))
        if (count < steps.at(holder))
            nearer.insert(holder);
    return nearer;
}

// Without a registry of the program's, to which a callback's argument or a word that is left over
// may lead the driver. All of its holders are nearer to the program; where an interpreter's memory
// is full of words that are left over, these make some of the driver's own look so.
std::set<Address> without_registries(const StepsTo& steps, const std::set<Address>& nearer,
                                     const std::vector<ShapedPointer>& shaped, bool has_interpreter)
{
    std::map<HolderShape, std::set<Address>> led_to;    // blocks
    std::map<HolderShape, std::set<Address>> as_nearer; // of which some holder is nearer
    for (const ShapedPointer& one : shaped)
        if (steps.contains(one.block.begin)) {
            led_to[one.shape].insert(one.pointer.value);
            if (nearer.contains(one.block.begin))
                as_nearer[one.shape].insert(one.pointer.value);
        }
    std::set<Address> holders = keys_of(steps);
    for (const ShapedPointer& one : shaped)
        if (nearer.contains(one.block.begin) &&
            (!has_interpreter || as_nearer[one.shape] == led_to[one.shape]))
            holders.erase(one.block.begin);
    return holders;
}

// Words of what is left of a block that was freed look like a holder: so a few may be missing, as
// may those that lie deep in a tree.
bool leads_to_most(const std::map<Address, std::size_t>& led_to, const std::vector<Address>& blocks)
{
    const auto known = std::count_if(blocks.begin(), blocks.end(),
                                     [&](Address block) { return led_to.contains(block); });
    return static_cast<std::size_t>(known) * 4 >= blocks.size() * 3;
}

// Pieces that may be books, all of them holders of blocks.
class Books {
public:
    Books(const std::vector<ShapedPointer>& shaped, const std::set<Address>& holders)
    {
        std::copy_if(shaped.begin(), shaped.end(), std::back_inserter(shaped_),
                     [&](const ShapedPointer& one) { return holders.contains(one.block.begin); });
        counts_ = count(shaped_);
    }

    // Those of one shape that have these blocks, if they are books of them. `of_block`: of the
    // shape all that there are.
    void add_words(std::set<Address>& words, const std::map<Address, std::size_t>& of_block,
                   const HolderShape& shape, const std::vector<Address>& blocks) const
    {
        const std::size_t times = times_in(of_block, blocks);
        const auto led_to = counts_.find(shape);
        if (times == 0 || led_to == counts_.end() || !leads_to_most(led_to->second, blocks))
            return;
        // What is led to more often than it has any block is the program's too.
        for (const ShapedPointer& one : shaped_)
            if (is_same(one.shape, shape) &&
                std::binary_search(blocks.begin(), blocks.end(), one.pointer.value) &&
                led_to->second.at(one.pointer.value) <= times)
                words.insert(one.pointer.word);
    }

private:
    std::vector<ShapedPointer> shaped_;
    Counts counts_;
};

} // namespace

std::vector<FoundPointer> without_books(std::vector<FoundPointer> found,
                                        const SearchedMemory& searched, const LivingBlocks& living)
{
    const std::vector<ShapedPointer> shaped = shapes_of(found, searched);
    const Counts counts = count(shaped);
    std::set<HolderShape> with_all; // that was given out of a kind
    for (const auto& [shape, of_block] : counts)
        for (const GivenBlocks& given : living.given())
            if (times_in(of_block, given.begins) > 0)
                with_all.insert(shape);
    if (with_all.empty())
        return found;
    const StepsTo steps = led_to_by_the_driver(holders_of(with_all, shaped), searched);
    const Books of_driver(
        shaped, without_registries(steps, nearer_to_the_program(steps, searched, living.handles()),
                                   shaped, searched.python != nullptr));
    const Books of_allocator(shaped, keys_of(steps)); // its blocks know each other
    std::set<Address> theirs;                         // words
    for (const HolderShape& shape : with_all)
        for (const GivenBlocks& given : living.given())
            (given.by_driver ? of_driver : of_allocator)
                .add_words(theirs, counts.at(shape), shape, given.begins);
    std::erase_if(found,
                  [&](const FoundPointer& pointer) { return theirs.contains(pointer.word); });
    return found;
}

} // namespace vramscope::report
