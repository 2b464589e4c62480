// report/replay/misuse.cpp — pieces of address space with a past, and the judgement over them.
#include "report/replay/misuse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/replay/lookup/values_of.hpp"

namespace vramscope::report {

using format::KeySpace;
using format::Memory;
using format::Tag;

namespace {

std::uint64_t end_of(KeySpace space, std::uint64_t address, std::uint64_t bytes) noexcept
{
    const std::uint64_t length = is_range(space) ? std::max<std::uint64_t>(bytes, 1) : 1;
    return address + std::min(length, UINT64_MAX - address);
}

std::size_t index_of(KeySpace space) noexcept
{
    return static_cast<std::size_t>(space);
}

} // namespace

MisuseReplay::MisuseReplay(const LogTables& tables,
                           const std::unordered_set<std::uint64_t>& addresses, bool complete)
    : tables_(tables), addresses_(addresses.begin(), addresses.end()), complete_(complete)
{
    std::sort(addresses_.begin(), addresses_.end());
}

bool MisuseReplay::apply(const Record& record)
{
    latest_ = nullptr;
    const Api* const api =
        record.api < tables_.apis().size() ? &tables_.apis()[record.api] : nullptr;
    switch (record.tag) {
    case Tag::alloc:
        if (api)
            allocate(record, *api);
        return false;
    case Tag::free:
        if (api)
            free(record, format::key_space(api->memory));
        return false;
    case Tag::map:
        map(record);
        return false;
    case Tag::unmap:
        unmap(record);
        return false;
    case Tag::retain:
        retain(record);
        return false;
    case Tag::context:
        if (const auto context = record.as<format::Context>())
            contexts_[context->id].handle = context->handle;
        return false;
    case Tag::context_gone:
        context_gone(record);
        return false;
    case Tag::failed:
        return api && refuse(record, *api);
    default:
        return false;
    }
}

bool MisuseReplay::follows(std::uint64_t start, std::uint64_t end) const
{
    if (follows_all_)
        return true;
    const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), start);
    return first != addresses_.end() && *first < end;
}

// Removes all in the range; `at`: the first that begins in it, or behind it. What goes beyond the
// range stays, where it covers a followed address. Returns what is behind the range.
MisuseReplay::Lives::iterator MisuseReplay::clear(Space& space, Lives::iterator at,
                                                  std::uint64_t start, std::uint64_t end) const
{
    Lives& lives = space.lives;
    if (at != lives.begin() && std::prev(at)->second.end > start)
        --at;
    while (at != lives.end() && at->first < end) {
        const std::uint64_t first = at->first;
        const Life life = at->second;
        at = lives.erase(at);
        space.ended -= !life.is_alive();
        const auto keep = [&](std::uint64_t from, std::uint64_t to) {
            Life left = life;
            left.end = to;
            at = std::next(lives.emplace_hint(at, from, left));
            space.ended += !life.is_alive();
        };
        if (first < start && follows(first, start))
            keep(first, start);
        if (life.end > end && follows(end, life.end))
            keep(end, life.end);
    }
    return at;
}

void MisuseReplay::begin(Space& space, std::uint64_t address, std::uint64_t end, Life life)
{
    life.start = address;
    life.end = end;
    const auto before = space.lives.lower_bound(address);
    if (before != space.lives.end() && before->first == address && before->second.end == end) {
        space.ended -= !before->second.is_alive(); // of the same size, as nearly always
        before->second = life;
        return;
    }
    space.lives.emplace_hint(clear(space, before, address, end), address, life);
}

void MisuseReplay::allocate(const Record& record, const Api& api)
{
    const KeySpace space = format::key_space(api.memory);
    const std::uint64_t end = end_of(space, record.address, record.bytes);
    if (!follows(record.address, end))
        return;
    Space& lives = spaces_[index_of(space)];
    if (api.memory == Memory::ipc || api.memory == Memory::imported_physical)
        if (Life* const known = alive_at(lives, record.address)) {
            ++known->references;
            return;
        }
    Life life;
    life.bytes = record.bytes;
    life.memory =
        api.memory == Memory::async && record.place.capturing ? Memory::graph : api.memory;
    life.allocation = {record.api, record.stack, record.ticks};
    life.context = record.place.context;
    life.context_deaths = contexts_[life.context].deaths;
    life.mortal = dies_with_context(life.memory) && life.context != 0;
    begin(lives, record.address, end, life);
}

void MisuseReplay::free(const Record& record, KeySpace space)
{
    Space& lives = spaces_[index_of(space)];
    Life* const life = alive_at(lives, record.address);
    if (!life || life->start != record.address || life->memory == Memory::graph ||
        record.ticks < life->allocation.ticks)
        return;
    if (--life->references == 0)
        finish(lives, *life, {record.api, record.stack, record.ticks});
}

void MisuseReplay::finish(Space& space, Life& life, LoggedCall by)
{
    by.ticks = std::max<std::uint64_t>(by.ticks, 1);
    life.ended = by;
    if (++space.ended >= 2 * kMostEnded && follows_all_)
        forget_oldest(space);
}

// Half of what ended, now and then.
void MisuseReplay::forget_oldest(Space& space)
{
    std::vector<std::uint64_t> ends;
    for (const auto& [first, life] : space.lives)
        if (!life.is_alive())
            ends.push_back(life.ended.ticks);
    const auto oldest_kept = ends.end() - static_cast<std::ptrdiff_t>(kMostEnded);
    std::nth_element(ends.begin(), oldest_kept, ends.end());
    const std::uint64_t oldest = *oldest_kept;
    space.ended -= std::erase_if(space.lives, [&](const auto& one) {
        return !one.second.is_alive() && one.second.ended.ticks < oldest;
    });
    complete_ = false;
}

bool MisuseReplay::is_sound(const Space& space)
{
    std::uint64_t last = 0;
    std::size_t ended = 0;
    return std::all_of(space.lives.begin(), space.lives.end(),
                       [&](const auto& one) {
                           const auto& [first, life] = one;
                           ended += !life.is_alive();
                           return std::exchange(last, life.end) <= first && first <= life.end &&
                                  life.start <= first;
                       }) &&
           ended == space.ended;
}

bool MisuseReplay::rebuild() const
{
    const auto knows_its_context = [&](const auto& one) {
        return !one.second.mortal || contexts_.count(one.second.context) != 0;
    };
    return std::all_of(spaces_.begin(), spaces_.end(), [&](const Space& space) {
        return is_sound(space) &&
               std::all_of(space.lives.begin(), space.lives.end(), knows_its_context);
    });
}

void MisuseReplay::map(const Record& record)
{
    const auto map = record.as<format::Map>();
    if (!map)
        return;
    Life life;
    life.bytes = map->bytes;
    life.memory = Memory::physical;
    life.allocation = {record.api, map->stack, record.ticks};
    const std::uint64_t end = end_of(KeySpace::mapping, map->address, map->bytes);
    if (follows(map->address, end))
        begin(spaces_[index_of(KeySpace::mapping)], map->address, end, life);
}

void MisuseReplay::unmap(const Record& record)
{
    const auto unmap = record.as<format::Unmap>();
    if (!unmap)
        return;
    Space& mappings = spaces_[index_of(KeySpace::mapping)];
    std::vector<Life*> inside; // finish() may forget what ended, so it comes behind the loop
    for (auto at = mappings.lives.lower_bound(unmap->address);
         at != mappings.lives.end() && at->first - unmap->address < unmap->bytes; ++at)
        if (at->second.is_alive())
            inside.push_back(&at->second);
    for (Life* const life : inside)
        finish(mappings, *life, {record.api, 0, record.ticks});
}

void MisuseReplay::retain(const Record& record)
{
    const auto retain = record.as<format::Retain>();
    if (!retain)
        return;
    if (Life* const life = alive_at(spaces_[index_of(KeySpace::physical)], retain->handle))
        ++life->references;
}

void MisuseReplay::context_gone(const Record& record)
{
    const auto gone = record.as<format::ContextGone>();
    if (!gone || gone->context == 0)
        return; // 0: blocks of unknown contexts are not this one's
    Context& context = contexts_[gone->context];
    ++context.deaths;
    context.death = {record.api, gone->stack, record.ticks};
    Space& handles = spaces_[index_of(KeySpace::context)];
    if (Life* const life = alive_at(handles, context.handle))
        finish(handles, *life, context.death);
}

const LoggedCall* MisuseReplay::death_of(const Life& life) const
{
    if (!life.mortal)
        return nullptr;
    const Context& context = contexts_.at(life.context);
    return context.deaths > life.context_deaths ? &context.death : nullptr;
}

const MisuseReplay::Life* MisuseReplay::at(const Lives& lives, std::uint64_t address)
{
    auto behind = lives.upper_bound(address);
    if (behind == lives.begin())
        return nullptr;
    const Life& life = std::prev(behind)->second;
    return address < life.end ? &life : nullptr;
}

MisuseReplay::Life* MisuseReplay::alive_at(Space& space, std::uint64_t first)
{
    const auto life = space.lives.find(first);
    return life != space.lives.end() && life->second.is_alive() ? &life->second : nullptr;
}

// The block at this address: one that is alive rather than one that was, and one that this function
// frees rather than another.
std::optional<MisuseReplay::Found> MisuseReplay::find(KeySpace wanted, std::uint64_t address) const
{
    std::optional<Found> best;
    int best_rank = 0;
    const auto offer = [&](KeySpace space) {
        const bool own = space == wanted;
        const Life* const life = at(spaces_[index_of(space)].lives, address);
        if (!life)
            return;
        const LoggedCall* const death = life->is_alive() ? death_of(*life) : nullptr;
        const Found found{*life, death ? *death : life->ended, death != nullptr, own};
        const bool alive = found.ended.ticks == 0;
        if (!own && !alive && life->start != address)
            return; // too far from what was meant
        const int rank = 1 + own + 2 * alive;
        if (rank > best_rank) {
            best_rank = rank;
            best.emplace(found);
        }
    };
    for (const format::KeySpaceRow& row : format::kKeySpaces) {
        const bool around = row.space == KeySpace::reservation && wanted == KeySpace::mapping;
        if (row.space != KeySpace::none && !around)
            offer(row.space);
    }
    return best;
}

LoggedMisuse MisuseReplay::judge(KeySpace space, std::uint64_t address) const
{
    LoggedMisuse misuse;
    misuse.address = address;
    const std::optional<Found> found = find(space, address);
    if (!found) {
        const bool followed =
            follows_all_ || std::binary_search(addresses_.begin(), addresses_.end(), address);
        misuse.kind = complete_ && followed ? MisuseKind::never_allocated : MisuseKind::unknown;
        return misuse;
    }
    const Life& life = found->life;
    misuse.offset = address - life.start;
    misuse.bytes = life.bytes;
    misuse.memory = life.memory;
    misuse.allocation = life.allocation;
    misuse.ended = found->ended;
    if (found->ended.ticks != 0 && misuse.offset == 0)
        misuse.kind = found->with_context ? MisuseKind::after_context : MisuseKind::double_free;
    else if (!found->own_space)
        misuse.kind = MisuseKind::wrong_api;
    else
        misuse.kind = misuse.offset == 0 ? MisuseKind::none : MisuseKind::interior_pointer;
    return misuse;
}

LoggedMisuse MisuseReplay::judge(const PendingFree& free) const
{
    LoggedMisuse misuse = judge(ends(tables_.apis()[free.api]), free.address);
    misuse.call = {free.api, free.stack, free.ticks};
    return misuse;
}

bool MisuseReplay::refuse(const Record& record, const Api& api)
{
    const auto failed = record.as<format::Failed>();
    const KeySpace space = ends(api);
    if (!failed || space == KeySpace::none || failed->address == 0)
        return false;
    LoggedMisuse misuse = judge(space, failed->address);
    if (misuse.kind == MisuseKind::none)
        return true;
    misuse.result = failed->result;
    misuse.call = {record.api, failed->stack, record.ticks};
    const Key key{misuse.kind,           misuse.result,           misuse.memory,
                  misuse.allocation.api, misuse.allocation.stack, misuse.ended.api,
                  misuse.ended.stack,    misuse.call.api,         misuse.call.stack};
    LoggedMisuse& known = misuses_.try_emplace(key, misuse).first->second;
    ++known.calls;
    known.last_ticks = std::max(known.last_ticks, record.ticks);
    latest_ = &known;
    return false;
}

std::vector<LoggedMisuse> MisuseReplay::groups() const
{
    return values_of(misuses_);
}

} // namespace vramscope::report
