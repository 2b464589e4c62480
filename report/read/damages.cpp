// report/read/damages.cpp — records to groups of equal stacks.
#include "report/read/damages.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

struct Body {
    format::Damage kind;
    std::uint64_t address;
    std::int64_t offset;
    std::uint64_t bytes;
    std::uint64_t stack;
    bool ok;
};

Body decode(const Record& record)
{
    format::Cursor in = record.body;
    Body body{};
    const std::uint64_t kind = in.varint();
    body.address = in.varint();
    body.offset = in.signed_varint();
    body.bytes = in.varint();
    body.stack = in.varint();
    body.ok = in.ok() && kind >= 1 && kind <= 3;
    if (body.ok)
        body.kind = static_cast<format::Damage>(kind);
    return body;
}

} // namespace

void Damages::note(const Record& record)
{
    if (record.tag != format::Tag::damaged || addresses_.size() >= kMostFollowed)
        return;
    if (const Body body = decode(record); body.ok)
        addresses_.insert(body.address);
}

void Damages::apply(const Record& record, const FreeHistory& history)
{
    if (record.tag != format::Tag::damaged)
        return;
    const Body body = decode(record);
    if (!body.ok)
        return;
    LoggedDamage damage;
    damage.kind = body.kind;
    damage.address = body.address;
    damage.offset = body.offset;
    damage.wrong_bytes = body.bytes;
    damage.noticed = {.api = kNoApi, .stack = body.stack, .ticks = record.ticks};
    if (const LoggedMisuse block = history.block_at(body.address);
        block.memory != format::Memory::none && block.offset == 0) {
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
    std::vector<LoggedDamage> groups;
    for (const auto& [key, damage] : groups_)
        groups.push_back(damage);
    return groups;
}

} // namespace vramscope::report
