// report/replay/retries.cpp — refusals of the driver's that an allocator mended, or failed by.
#include <algorithm>

#include "report/replay/lookup/values_of.hpp"
#include "report/replay/shortages.hpp"

namespace vramscope::report {

using format::Memory;

namespace {

// Where no context is current, the log does not say which device refused.
bool is_of(std::int32_t device, std::int32_t refused) noexcept
{
    return refused < 0 || device == refused;
}

} // namespace

void Shortages::follow_refusal(const LoggedShortage& shortage, HeapReplay& heap)
{
    if (refusals_.size() == kMostFollowed) // the oldest one was hardly an allocator's
        refusals_.pop_front();
    const auto& apis = tables_.apis();
    const bool of_piece =
        shortage.api < apis.size() && apis[shortage.api].memory == Memory::physical;
    refusals_.push_back({
        .row = shortage.row,
        .api = shortage.api,
        .stack = shortage.stack,
        .requested = shortage.requested,
        .free = shortage.free,
        .total = shortage.total,
        .allocations = heap.counts().allocations,
        .thread = shortage.thread,
        .device = shortage.device,
        .of_piece = of_piece,
        .physical = of_piece ? heap.physical_bytes(shortage.device) : 0,
    });
}

void Shortages::freed(const Block& block, std::uint64_t)
{
    if (refusals_.empty() || block.memory != Memory::segment)
        return;
    for (Refusal& refusal : refusals_)
        refusal.given_back = refusal.given_back || is_of(block.device, refusal.device);
}

void Shortages::follow(const Block& block)
{
    if (block.memory == Memory::suballocated)
        return serve(block);
    if (block.memory != Memory::segment)
        return;
    for (Refusal& refusal : refusals_) {
        if (refusal.thread == block.thread && is_of(block.device, refusal.device) &&
            refusal.requested == block.bytes && refusal.given_back)
            refusal.granted = true;
    }
}

// What the thread had been refused before is over: it was this block's, or none of the allocator's.
void Shortages::serve(const Block& block)
{
    bool mended = false;
    LoggedRetries retry{block.api, block.device, block.stack, block.ticks, 1, 0};
    const auto is_over = [&](const Refusal& refusal) {
        if (refusal.thread != block.thread)
            return false;
        if (refusal.granted) {
            auto& [calls, bytes] = mended_[{refusal.api, refusal.stack}];
            ++calls;
            bytes += refusal.requested;
            mended = true;
            retry.most_requested = refusal.requested;
            drop(refusal.row);
        }
        return true;
    };
    std::erase_if(refusals_, is_over);
    if (mended)
        count_retry(retry);
}

// The allocator asked the driver, gave back what it could, and asked again. It knows nothing of the
// driver's memory; its refusals were told.
void Shortages::absorb_refusals(LoggedShortage& shortage, HeapReplay& heap)
{
    const std::uint64_t allocations = heap.counts().allocations;
    std::uint64_t attempts = 0;
    const auto is_over = [&](const Refusal& refusal) {
        if (refusal.thread != shortage.thread)
            return false;
        if (refusal.of_piece ||
            (refusal.allocations == allocations && refusal.requested >= shortage.requested)) {
            ++attempts;
            if (refusal.total > 0) { // of the last one: the state that it ended in
                shortage.free = refusal.of_piece
                                    ? refusal.free_with(heap.physical_bytes(refusal.device))
                                    : refusal.free;
                shortage.total = refusal.total;
            }
            drop(refusal.row);
        }
        return true;
    };
    std::erase_if(refusals_, is_over);
    if (attempts > 1)
        count_retry(
            {shortage.api, shortage.device, shortage.stack, shortage.ticks, 1, shortage.requested});
    shortage.retries = 0;
    for (const auto& [place, one] : retried_)
        if (one.api == shortage.api && one.device == shortage.device)
            shortage.retries += one.retries;
}

void Shortages::count_retry(const LoggedRetries& retry)
{
    const auto [found, added] = retried_.try_emplace({retry.api, retry.device, retry.stack}, retry);
    LoggedRetries& known = found->second;
    if (added)
        return;
    ++known.retries;
    known.most_requested = std::max(known.most_requested, retry.most_requested);
}

void Shortages::drop(std::uint64_t row)
{
    const auto is_it = [row](const LoggedShortage& one) { return one.row == row; };
    std::erase_if(first_, is_it);
    std::erase_if(last_, is_it);
    --count_;
    ++dropped_;
}

std::vector<LoggedRetries> Shortages::retries() const
{
    return values_of(retried_);
}

void Shortages::forget_mended(FailedCalls& failed) const
{
    for (const auto& [call, sum] : mended_)
        failed.forget(call.first, call.second, sum.first, sum.second);
}

} // namespace vramscope::report
