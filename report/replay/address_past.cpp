// report/replay/address_past.cpp — pieces of address space: begun over others, ended, forgotten.
#include "report/replay/address_past.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vramscope::report {

FollowedAddresses::FollowedAddresses(const std::unordered_set<std::uint64_t>& addresses)
    : all_(false), addresses_(addresses.begin(), addresses.end())
{
    std::sort(addresses_.begin(), addresses_.end());
}

bool FollowedAddresses::has(std::uint64_t address) const
{
    return all_ || std::binary_search(addresses_.begin(), addresses_.end(), address);
}

bool FollowedAddresses::any_of(std::uint64_t start, std::uint64_t end) const
{
    if (all_)
        return true;
    const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), start);
    return first != addresses_.end() && *first < end;
}

AddressPast::AddressPast(const AddressPast& other) : lives_(other.lives_), ended_(other.ended_)
{
    rebuild(); // its index is of its own lives
}

const BlockLife* AddressPast::at(std::uint64_t address) const
{
    const auto behind = lives_.upper_bound(address);
    if (behind == lives_.begin())
        return nullptr;
    const BlockLife& life = std::prev(behind)->second;
    return address < life.end ? &life : nullptr;
}

BlockLife* AddressPast::alive_at(std::uint64_t first)
{
    const auto* const found = of_first_.find(first);
    return found && found->value->is_alive() ? found->value : nullptr;
}

std::vector<BlockLife*> AddressPast::alive_in(std::uint64_t start, std::uint64_t bytes)
{
    std::vector<BlockLife*> alive;
    for (auto at = lives_.lower_bound(start); at != lives_.end() && at->first - start < bytes; ++at)
        if (at->second.is_alive())
            alive.push_back(&at->second);
    return alive;
}

void AddressPast::add(Lives::iterator behind, std::uint64_t first, const BlockLife& life)
{
    const auto at = lives_.emplace_hint(behind, first, life);
    of_first_.insert(first, &at->second);
    ended_ += !life.is_alive();
}

AddressPast::Lives::iterator AddressPast::remove(Lives::iterator at)
{
    of_first_.erase(of_first_.find(at->first));
    ended_ -= !at->second.is_alive();
    return lives_.erase(at);
}

// Removes all in the range; `at`: the first that begins in it, or behind it. What goes beyond the
// range stays, where it covers a followed address. Returns what is behind the range.
AddressPast::Lives::iterator AddressPast::clear(Lives::iterator at, std::uint64_t start,
                                                std::uint64_t end,
                                                const FollowedAddresses& followed)
{
    if (at != lives_.begin() && std::prev(at)->second.end > start)
        --at;
    while (at != lives_.end() && at->first < end) {
        const std::uint64_t first = at->first;
        BlockLife life = at->second;
        at = remove(at);
        if (life.end > end && followed.any_of(end, life.end)) {
            add(at, end, life);
            --at;
        }
        life.end = start;
        if (first < start && followed.any_of(first, start))
            add(at, first, life);
    }
    return at;
}

void AddressPast::begin(std::uint64_t address, std::uint64_t end, BlockLife life,
                        const FollowedAddresses& followed)
{
    life.start = address;
    life.end = end;
    const auto* const known = of_first_.find(address);
    if (known && known->value->end == end) { // of the same size, as nearly always
        ended_ -= !known->value->is_alive();
        *known->value = life;
        return;
    }
    add(clear(lives_.lower_bound(address), address, end, followed), address, life);
}

void AddressPast::finish(BlockLife& life, LoggedCall by)
{
    by.ticks = std::max<std::uint64_t>(by.ticks, 1);
    life.ended = by;
    ++ended_;
}

void AddressPast::forget_oldest()
{
    std::vector<std::uint64_t> ends;
    for (const auto& [first, life] : lives_)
        if (!life.is_alive())
            ends.push_back(life.ended.ticks);
    const auto oldest_kept = ends.end() - static_cast<std::ptrdiff_t>(kMostEnded);
    std::nth_element(ends.begin(), oldest_kept, ends.end());
    const std::uint64_t oldest = *oldest_kept;
    for (auto at = lives_.begin(); at != lives_.end();) {
        const BlockLife& life = at->second;
        at = !life.is_alive() && life.ended.ticks < oldest ? remove(at) : std::next(at);
    }
}

bool AddressPast::rebuild()
{
    std::uint64_t last = 0;
    std::size_t ended = 0;
    for (auto& [first, life] : lives_) {
        if (first < std::exchange(last, life.end) || life.end < first || first < life.start)
            return false;
        ended += !life.is_alive();
        of_first_.insert(first, &life);
    }
    return ended == ended_;
}

} // namespace vramscope::report
