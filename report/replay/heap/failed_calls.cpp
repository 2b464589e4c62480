// report/replay/heap/failed_calls.cpp — groups of equal failures.
#include "report/replay/heap/failed_calls.hpp"

#include <algorithm>

#include "report/replay/lookup/values_of.hpp"

namespace vramscope::report {

using format::KeySpace;

KeySpace ends(const Api& api)
{
    if (api.effect == format::Effect::free)
        return format::key_space(api.memory);
    if (api.name.starts_with("cuMemUnmap"))
        return KeySpace::mapping;
    return api.name.starts_with("cuCtxDestroy") ? KeySpace::context : KeySpace::none;
}

void FailedCalls::add(const Record& record, const Api* api)
{
    const auto failed = record.as<format::Failed>();
    if (!failed)
        return;
    if (!api || ends(*api) == KeySpace::none || failed->address == 0)
        add_refused(record, *failed);
    else if (addresses_.size() < kMostFollowed)
        addresses_.insert(failed->address);
}

void FailedCalls::add_refused(const Record& record, const format::Failed& failed)
{
    FailedGroup& group = groups_[{record.api, failed.result, failed.stack}];
    if (group.calls == 0) {
        group.api = record.api;
        group.result = failed.result;
        group.stack = failed.stack;
        group.first_ticks = record.ticks;
    }
    group.add({failed.result, 1, failed.bytes, failed.bytes, failed.bytes});
    group.first_ticks = std::min(group.first_ticks, record.ticks);
    group.last_ticks = std::max(group.last_ticks, record.ticks);
}

void FailedCalls::add(const FailedCalls& others)
{
    for (const auto& [key, other] : others.groups_) {
        const auto [at, added] = groups_.try_emplace(key, other);
        if (added)
            continue;
        FailedGroup& group = at->second;
        group.add(other);
        group.first_ticks = std::min(group.first_ticks, other.first_ticks);
        group.last_ticks = std::max(group.last_ticks, other.last_ticks);
    }
}

void FailedCalls::forget(std::uint64_t api, std::uint64_t stack, std::uint64_t calls,
                         std::uint64_t bytes)
{
    constexpr std::uint64_t kOutOfMemory = 2; // CUDA_ERROR_OUT_OF_MEMORY
    const auto found = groups_.find({api, kOutOfMemory, stack});
    if (found == groups_.end())
        return;
    found->second.calls -= std::min(calls, found->second.calls);
    found->second.bytes -= std::min(bytes, found->second.bytes);
    if (found->second.calls == 0)
        groups_.erase(found);
}

std::vector<FailedGroup> FailedCalls::groups() const
{
    return values_of(groups_);
}

} // namespace vramscope::report
