// report/replay/misuse.cpp — what each record changes, and the judgement over it.
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
    : tables_(tables), followed_(addresses), complete_(complete)
{
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

AddressPast& MisuseReplay::past(KeySpace space)
{
    return spaces_[index_of(space)];
}

void MisuseReplay::allocate(const Record& record, const Api& api)
{
    const KeySpace space = format::key_space(api.memory);
    const std::uint64_t end = end_of(space, record.address, record.bytes);
    if (!followed_.any_of(record.address, end))
        return;
    if (api.memory == Memory::ipc || api.memory == Memory::imported_physical)
        if (BlockLife* const known = past(space).alive_at(record.address)) {
            ++known->references;
            return;
        }
    BlockLife life;
    life.bytes = record.bytes;
    life.memory =
        api.memory == Memory::async && record.place.capturing ? Memory::graph : api.memory;
    life.allocation = {record.api, record.stack, record.ticks};
    life.context = record.place.context;
    life.context_deaths = contexts_[life.context].deaths;
    life.mortal = dies_with_context(life.memory) && life.context != 0;
    past(space).begin(record.address, end, life, followed_);
}

void MisuseReplay::free(const Record& record, KeySpace space)
{
    BlockLife* const life = past(space).alive_at(record.address);
    if (!life || life->start != record.address || life->memory == Memory::graph ||
        record.ticks < life->allocation.ticks)
        return;
    if (--life->references == 0)
        finish(past(space), *life, {record.api, record.stack, record.ticks});
}

void MisuseReplay::finish(AddressPast& past, BlockLife& life, LoggedCall by)
{
    past.finish(life, by);
    if (!followed_.all() || !past.has_many_ended())
        return;
    past.forget_oldest();
    complete_ = false;
}

bool MisuseReplay::rebuild() const
{
    const auto knows_its_context = [&](const auto& one) {
        return !one.second.mortal || contexts_.count(one.second.context) != 0;
    };
    return std::all_of(spaces_.begin(), spaces_.end(), [&](const AddressPast& past) {
        return std::all_of(past.lives().begin(), past.lives().end(), knows_its_context);
    });
}

void MisuseReplay::map(const Record& record)
{
    const auto map = record.as<format::Map>();
    if (!map)
        return;
    BlockLife life;
    life.bytes = map->bytes;
    life.memory = Memory::physical;
    life.allocation = {record.api, map->stack, record.ticks};
    const std::uint64_t end = end_of(KeySpace::mapping, map->address, map->bytes);
    if (followed_.any_of(map->address, end))
        past(KeySpace::mapping).begin(map->address, end, life, followed_);
}

void MisuseReplay::unmap(const Record& record)
{
    const auto unmap = record.as<format::Unmap>();
    if (!unmap)
        return;
    AddressPast& mappings = past(KeySpace::mapping);
    // One by one: what ended may be forgotten at each.
    for (BlockLife* const life : mappings.alive_in(unmap->address, unmap->bytes))
        finish(mappings, *life, {record.api, 0, record.ticks});
}

void MisuseReplay::retain(const Record& record)
{
    const auto retain = record.as<format::Retain>();
    if (!retain)
        return;
    if (BlockLife* const life = past(KeySpace::physical).alive_at(retain->handle))
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
    AddressPast& handles = past(KeySpace::context);
    if (BlockLife* const life = handles.alive_at(context.handle))
        finish(handles, *life, context.death);
}

const LoggedCall* MisuseReplay::death_of(const BlockLife& life) const
{
    if (!life.mortal)
        return nullptr;
    const Context& context = contexts_.at(life.context);
    return context.deaths > life.context_deaths ? &context.death : nullptr;
}

// The block at this address: one that is alive rather than one that was, and one that this function
// frees rather than another.
std::optional<MisuseReplay::Found> MisuseReplay::find(KeySpace wanted, std::uint64_t address) const
{
    std::optional<Found> best;
    int best_rank = 0;
    const auto offer = [&](KeySpace space) {
        const bool own = space == wanted;
        const BlockLife* const life = spaces_[index_of(space)].at(address);
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
        misuse.kind =
            complete_ && followed_.has(address) ? MisuseKind::never_allocated : MisuseKind::unknown;
        return misuse;
    }
    const BlockLife& life = found->life;
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
