// report/reach/block_names.cpp — see block_names.hpp.
#include "report/reach/block_names.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace vramscope::report {
namespace {

constexpr std::uint64_t kLeastAddress = 1 << 16; // smaller numbers are handles, and are everywhere

AddressSpan span_of(Address address, std::uint64_t bytes)
{
    return {address, address + std::min(std::max<std::uint64_t>(bytes, 1), ~address)};
}

bool is_physical(const Block& block)
{
    return format::kind_of(block.memory).space == format::KeySpace::physical;
}

BlockName::Words words_in(const Block& block)
{
    return class_of(block.memory) == format::MemoryClass::host ||
                   block.memory == format::Memory::managed
               ? BlockName::Words::host
               : BlockName::Words::device;
}

class PhysicalNames {
public:
    PhysicalNames(HeapReplay& heap, const std::vector<const Block*>& blocks) : blocks_(blocks)
    {
        for (std::size_t at = 0; at < blocks.size(); ++at)
            if (is_physical(*blocks[at]))
                numbers_.emplace(blocks[at], at);
        if (numbers_.empty())
            return;
        heap.for_each_reservation([this](const Block& block) {
            reservations_[block.address].end = span_of(block.address, block.bytes).end;
        });
        heap.for_each_physical_name(
            [this](Address address, std::uint64_t bytes, const Block& block) {
                if (const auto number = numbers_.find(&block); number != numbers_.end())
                    add(address, bytes, number->second);
            });
        for (const auto& [begin, reservation] : reservations_)
            name_by_beginning(begin, reservation);
    }

    std::vector<BlockName> take() { return std::move(names_); }

private:
    struct Reservation {
        Address end = 0;
        std::vector<BlockName> mapped;
    };

    void add(Address address, std::uint64_t bytes, std::size_t number)
    {
        if (bytes > 0 && is_cut(address, bytes))
            return;
        names_.push_back({span_of(address, bytes), number,
                          bytes > 0 ? BlockName::Words::device : BlockName::Words::none});
        const auto behind = reservations_.upper_bound(address);
        if (bytes > 0 && behind != reservations_.begin() && address < std::prev(behind)->second.end)
            std::prev(behind)->second.mapped.push_back(names_.back());
    }

    // An allocator's memory is known by the blocks that it has cut.
    bool is_cut(Address address, std::uint64_t bytes) const
    {
        auto at = std::lower_bound(
            blocks_.begin(), blocks_.end(), address,
            [](const Block* block, Address other) { return block->address < other; });
        while (at != blocks_.end() && (*at)->address - address < bytes &&
               (*at)->memory != format::Memory::suballocated)
            ++at;
        return at != blocks_.end() && (*at)->address - address < bytes;
    }

    void name_by_beginning(Address begin, const Reservation& reservation)
    {
        AddressSpan first = span_of(begin, 1);
        for (const BlockName& mapped : reservation.mapped)
            if (mapped.begin == begin)
                first = mapped;
        for (const BlockName& mapped : reservation.mapped)
            if (mapped.begin != begin)
                names_.push_back({first, mapped.block, mapped.words});
    }

    const std::vector<const Block*>& blocks_; // by address
    std::map<const Block*, std::size_t> numbers_;
    std::map<Address, Reservation> reservations_; // by their beginning
    std::vector<BlockName> names_;
};

} // namespace

std::vector<BlockName> names_of(HeapReplay& heap, const std::vector<const Block*>& blocks)
{
    std::vector<BlockName> names = PhysicalNames(heap, blocks).take();
    for (std::size_t at = 0; at < blocks.size(); ++at) {
        const Block& block = *blocks[at];
        const bool is_range = format::is_range(format::kind_of(block.memory).space);
        if (!is_physical(block))
            names.push_back({span_of(block.address, is_range ? block.bytes : 1), at,
                             is_range ? words_in(block) : BlockName::Words::none});
    }
    std::erase_if(names, [](const BlockName& name) { return name.begin < kLeastAddress; });
    std::stable_sort(names.begin(), names.end(), [](const BlockName& a, const BlockName& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    return names;
}

} // namespace vramscope::report
