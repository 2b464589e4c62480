// report/reach/steps_down.cpp — level by level down.
#include "report/reach/steps_down.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "report/reach/memory/pieces.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostBlocksDown = 1'000'000;
constexpr std::size_t kMostPointersDown = 4'000'000; // of a level
constexpr Address kFirstOfOwnMapping = 16;           // in its page: behind the chunk's head

class WayDown {
public:
    // Pointers to `passed_over`, which is sorted, are not followed.
    WayDown(const SearchedMemory& searched, const std::vector<Address>& passed_over)
        : searched_(searched), passed_over_(passed_over), sieve_(heaps())
    {
        pointers_.resize(regions_.size());
    }

    void begin_with_the_driver()
    {
        for (const Region& region : searched_.map.regions())
            if (region.kind == RegionKind::books)
                read(region);
    }

    void begin_with_the_program()
    {
        for (const Region& region : searched_.map.regions())
            if (region.kind == RegionKind::variables || region.kind == RegionKind::stack)
                read_but_for_books(region);
            else if (region.kind == RegionKind::mapped && !region.below_stack)
                read_mapped(region);
        for (const SeenThread& thread : searched_.memory.threads())
            take(thread.registers.data(), thread.registers.size());
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
            const std::vector<HeapBlock> blocks = searched_.heap.around(*regions_[at], pointers);
            for (std::size_t i = 0; i < blocks.size(); ++i)
                if (blocks[i].state == HeapBlock::State::live && pointers[i] < blocks[i].end &&
                    seen_.size() < kMostBlocksDown && seen_.insert(blocks[i].begin).second)
                    found.push_back(blocks[i]);
            pointers.clear();
        }
        return found;
    }

    // A thread's, which leads to thread-locals of the driver's, if that was opened later.
    bool is_list_of_locals(const AddressSpan& block) const
    {
        constexpr Address kPairBytes = 16; // the first is the list's own
        return searched_.map.thread_of_locals(block.begin + kPairBytes).has_value();
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

    // Among a thread's thread-locals are those of the driver.
    void read_but_for_books(const Region& region)
    {
        for_each_piece(searched_.memory, region,
                       [this](Address from, std::uint64_t* words, std::size_t count) {
                           for (std::size_t at = 0; at < count; ++at)
                               if (searched_.map.is_books_word(from + at * sizeof words[0]))
                                   words[at] = 0;
                           take(words, count);
                       });
    }

    // Without the chunks that malloc gave a mapping of their own, as the driver's may be among
    // them, and without what an interpreter has freed.
    void read_mapped(const Region& region)
    {
        std::vector<Address> words;
        std::vector<std::uint64_t> values;
        for_each_piece(searched_.memory, region,
                       [&](Address from, const std::uint64_t* piece, std::size_t count) {
                           sieve_.scan(piece, count, [&](std::size_t at, std::size_t target) {
                               if (words.size() < kMostPointersDown &&
                                   may_be_followed(target, piece[at])) {
                                   words.push_back(from + at * sizeof piece[0]);
                                   values.push_back(piece[at]);
                               }
                           });
                       });
        const std::vector<HeapBlock> blocks = searched_.heap.around(region, words);
        std::size_t kept = 0;
        for (std::size_t at = 0; at < words.size(); ++at)
            if (is_root(blocks[at], words[at]))
                values[kept++] = values[at];
        take(values.data(), kept);
    }

    bool is_root(const HeapBlock& block, Address word) const
    {
        const bool has_own_mapping =
            block.state == HeapBlock::State::live && block.begin % kPageBytes == kFirstOfOwnMapping;
        return block.state != HeapBlock::State::unused && !has_own_mapping &&
               (!searched_.python || !is_left_over(block, word));
    }

    // An interpreter's memory is full of words that were there before.
    bool is_left_over(const HeapBlock& block, Address word) const
    {
        const PythonMemory& python = *searched_.python;
        if (python.is_frames_memory(word))
            return true;
        if (block.state != HeapBlock::State::live)
            return false;
        const Address object = python.object_in(block);
        return object == 0 || python.used_of(object).is_left_over(word);
    }

    // A chunk with a mapping to itself is known by a pointer to its beginning.
    bool may_be_followed(std::size_t region, Address value) const
    {
        return (regions_[region]->kind == RegionKind::heap ||
                value % kPageBytes == kFirstOfOwnMapping) &&
               !std::binary_search(passed_over_.begin(), passed_over_.end(), value);
    }

    void take(const std::uint64_t* words, std::size_t count)
    {
        sieve_.scan(words, count, [&](std::size_t at, std::size_t region) {
            if (count_ < kMostPointersDown && may_be_followed(region, words[at])) {
                pointers_[region].push_back(words[at]);
                ++count_;
            }
        });
    }

    const SearchedMemory& searched_;
    const std::vector<Address>& passed_over_;
    std::vector<const Region*> regions_; // of heaps, by address
    const Sieve sieve_;
    std::vector<std::vector<Address>> pointers_; // into each of these regions
    std::size_t count_ = 0;                      // of them
    std::unordered_set<Address> seen_;
    std::vector<std::uint64_t> words_;
};

StepsTo steps_to(const std::set<Address>& blocks, WayDown& way, unsigned most)
{
    StepsTo steps;
    for (unsigned step = 1; step <= most && steps.size() < blocks.size(); ++step) {
        const std::vector<HeapBlock> found = way.next();
        if (found.empty())
            break;
        for (const HeapBlock& block : found) {
            if (blocks.contains(block.begin))
                steps.emplace(block.begin, step);
            if (!way.is_list_of_locals(block))
                way.read(block);
        }
    }
    return steps;
}

} // namespace

StepsTo steps_from_the_driver(const SearchedMemory& searched, const std::set<Address>& blocks)
{
    const std::vector<Address> none;
    WayDown way(searched, none);
    way.begin_with_the_driver();
    return steps_to(blocks, way, kMostStepsDown);
}

StepsTo steps_from_the_program(const SearchedMemory& searched, const std::set<Address>& blocks,
                               const std::vector<Address>& handles, unsigned most)
{
    WayDown way(searched, handles);
    way.begin_with_the_program();
    return steps_to(blocks, way, most);
}

} // namespace vramscope::report
