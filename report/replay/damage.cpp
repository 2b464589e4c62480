// report/replay/damage.cpp — records to groups of equal stacks.
#include "report/replay/damage.hpp"

#include <algorithm>

#include "report/replay/lookup/values_of.hpp"

namespace vramscope::report {
namespace {

std::optional<format::Damaged> damaged_of(const Record& record)
{
    auto damaged = record.as<format::Damaged>();
    if (damaged && !is_known(damaged->kind))
        damaged.reset();
    return damaged;
}

std::uint64_t first_wrong(const format::Damaged& body)
{
    return body.address + static_cast<std::uint64_t>(body.offset);
}

// What was freed need not begin where the new block does: where memory is split, the old one is
// found by the byte. A byte in a red zone is in no block. `offset`: of the block to body.address.
LoggedMisuse block_of(const format::Damaged& body, const MisuseReplay& misuse)
{
    if (body.kind == format::Damage::use_after_free) {
        LoggedMisuse old = misuse.block_at(first_wrong(body));
        if (old.memory != format::Memory::none && old.ended.ticks != 0) {
            old.offset = static_cast<std::uint64_t>(body.offset) - old.offset;
            return old;
        }
    }
    LoggedMisuse block = misuse.block_at(body.address);
    return block.offset == 0 ? block : LoggedMisuse{};
}

} // namespace

void Damages::note(const Record& record)
{
    if (addresses_.size() >= kMostFollowed)
        return;
    if (const auto body = damaged_of(record)) {
        addresses_.insert(body->address);
        addresses_.insert(first_wrong(*body));
    }
}

void Damages::apply(const Record& record, const MisuseReplay& misuse)
{
    const auto found = damaged_of(record);
    if (!found)
        return;
    const format::Damaged& body = *found;
    LoggedDamage damage;
    damage.kind = body.kind;
    damage.address = body.address;
    damage.offset = body.offset;
    damage.wrong_bytes = body.bytes;
    damage.noticed = {.api = kNoApi, .stack = body.stack, .ticks = record.ticks};
    if (const LoggedMisuse block = block_of(body, misuse); block.memory != format::Memory::none) {
        damage.address = body.address + block.offset;
        damage.offset = body.offset - static_cast<std::int64_t>(block.offset);
        damage.block_bytes = block.bytes;
        damage.allocation = block.allocation;
        damage.ended = block.ended;
    }
    const Key key{damage.kind, damage.allocation.stack, damage.ended.stack, body.stack};
    LoggedDamage& known = groups_.try_emplace(key, damage).first->second;
    ++known.times;
    known.last_ticks = std::max(known.last_ticks, record.ticks);
}

std::vector<LoggedDamage> Damages::groups() const
{
    return values_of(groups_);
}

} // namespace vramscope::report
