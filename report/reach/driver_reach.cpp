// report/reach/driver_reach.cpp — level by level down.
#include "report/reach/driver_reach.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "report/reach/memory/pieces.hpp"

namespace vramscope::report {
namespace {

constexpr unsigned kMostLevelsDown = 64; // what is deeper is not known as books: it is held then
constexpr std::size_t kMostBlocksDown = 1'000'000;
constexpr std::size_t kMostPointersDown = 4'000'000; // of a level
constexpr Address kFirstOfOwnMapping = 16;           // in its page: behind the chunk's head

class WayDown {
public:
    explicit WayDown(const SearchedMemory& searched) : searched_(searched), sieve_(heaps())
    {
        pointers_.resize(regions_.size());
    }

    void begin()
    {
        for (const Region& region : searched_.map.regions())
            if (region.kind == RegionKind::books)
                read(region);
    }

    // The blocks that the pointers of the level before lead to, and that are new.
    std::vector<HeapBlock> next()
    {
        std::vector<HeapBlock> found;
        count_ = 0;
        for (std::size_t at = 0; at < regions_.size(); ++at) {
            std::vector<Address>& pointers = pointers_[at];
            std::sort(pointers.begin(), pointers.end());
            pointers.erase(std::unique(pointers.begin(), pointers.end()), pointers.end());
            for (const HeapBlock& block : searched_.heap.around(*regions_[at], pointers))
                if (block.state == HeapBlock::State::live && seen_.size() < kMostBlocksDown &&
                    seen_.insert(block.begin).second)
                    found.push_back(block);
            pointers.clear();
        }
        return found;
    }

    void read(const AddressSpan& span)
    {
        constexpr Address kSmall = 64 << 10;
        if (span.end - span.begin > kSmall)
            return for_each_piece(searched_.memory, span,
                                  [this](Address, const std::uint64_t* words, std::size_t count) {
                                      take(words, count);
                                  });
        words_.resize((span.end - span.begin) / sizeof words_[0]);
        if (searched_.memory.read(span.begin, words_.data(), words_.size() * sizeof words_[0]))
            take(words_.data(), words_.size());
    }

private:
    std::vector<AddressSpan> heaps()
    {
        std::vector<AddressSpan> spans;
        for (const Region& region : searched_.map.regions())
            if (region.kind == RegionKind::heap || region.kind == RegionKind::mapped) {
                regions_.push_back(&region);
                spans.push_back(region);
            }
        return spans;
    }

    // A chunk with a mapping to itself is known by a pointer to its beginning.
    void take(const std::uint64_t* words, std::size_t count)
    {
        sieve_.scan(words, count, [&](std::size_t at, std::size_t region) {
            if (count_ < kMostPointersDown && (regions_[region]->kind == RegionKind::heap ||
                                               words[at] % kPageBytes == kFirstOfOwnMapping)) {
                pointers_[region].push_back(words[at]);
                ++count_;
            }
        });
    }

    const SearchedMemory& searched_;
    std::vector<const Region*> regions_; // of heaps, by address
    const Sieve sieve_;
    std::vector<std::vector<Address>> pointers_; // into each of these regions
    std::size_t count_ = 0;                      // of them
    std::unordered_set<Address> seen_;
    std::vector<std::uint64_t> words_;
};

} // namespace

std::set<Address> led_to_by_the_driver(const SearchedMemory& searched,
                                       const std::set<Address>& blocks)
{
    std::set<Address> led_to;
    WayDown way(searched);
    way.begin();
    for (unsigned level = 0; level < kMostLevelsDown && led_to.size() < blocks.size(); ++level) {
        const std::vector<HeapBlock> found = way.next();
        if (found.empty())
            break;
        for (const HeapBlock& block : found) {
            if (blocks.contains(block.begin))
                led_to.insert(block.begin);
            way.read(block);
        }
    }
    return led_to;
}

} // namespace vramscope::report
