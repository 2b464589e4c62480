// report/read/shortages.cpp — a failed call, then the state of its device.
#include "report/read/shortages.hpp"

#include <algorithm>

#include "report/read/memory_class.hpp"
#include "report/read/stack_sums.hpp"

namespace vramscope::report {

using format::Cursor;
using format::Tag;

void Shortages::apply(const Record& record, HeapReplay& replay)
{
    if (record.tag == Tag::out_of_memory) {
        add(record, replay);
    } else if (record.tag == Tag::failed) {
        if (const FailedRecord failed = decode_failed(record); failed.ok)
            last_stack_[record.thread] = failed.stack;
    } else if (record.tag == Tag::retried) {
        Cursor in = record.body;
        ++retries_[in.signed_varint()];
    }
}

void Shortages::add(const Record& record, HeapReplay& replay)
{
    Cursor in = record.body;
    LoggedShortage shortage;
    shortage.api = record.api;
    shortage.ticks = record.ticks;
    const std::int64_t device = in.signed_varint();
    shortage.device = static_cast<std::int32_t>(std::clamp<std::int64_t>(device, -1, INT16_MAX));
    for (std::uint64_t* const field :
         {&shortage.requested, &shortage.free, &shortage.total, &shortage.allocated,
          &shortage.reserved, &shortage.largest_gap})
        *field = in.varint();
    if (!in.ok())
        return;
    ++count_;
    if (const auto stack = last_stack_.find(record.thread); stack != last_stack_.end())
        shortage.stack = stack->second;
    if (const auto retries = retries_.find(device); retries != retries_.end())
        shortage.retries = retries->second;
    const std::uint64_t events = replay.counts().events;
    if (first_.size() < kFirst || events >= walk_again_at_) {
        StackSums sums;
        std::uint64_t blocks = 0;
        replay.for_each_alive([&](const Block& block) {
            ++blocks;
            const bool here = device < 0 || block.device < 0 || block.device == shortage.device;
            if (here && class_of(block.memory) == MemoryClass::device) {
                sums.add(block);
                shortage.held += block.bytes;
            }
        });
        shortage.owners = sums.largest(kOwners);
        shortage.owners_known = true;
        walk_again_at_ = events + blocks;
    }
    if (first_.size() < kFirst) {
        first_.push_back(std::move(shortage));
        return;
    }
    last_.push_back(std::move(shortage));
    if (last_.size() > kLast)
        last_.pop_front();
}

std::vector<LoggedShortage> Shortages::kept() const
{
    std::vector<LoggedShortage> kept = first_;
    kept.insert(kept.end(), last_.begin(), last_.end());
    return kept;
}

} // namespace vramscope::report
