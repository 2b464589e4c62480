// report/findings/misuse.cpp — stacks become places, equal rows are joined.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/timed_calls.hpp"

namespace vramscope::report {
namespace {

// Where the user's code is, in one piece; empty if no stack is known.
std::string place_of(const CallPlace& call)
{
    const Frame* const own = call.own_frame();
    if (!own)
        return {};
    const Frame& frame = *own;
    const std::string function = frame.function.empty()
                                     ? fmt::format("{}+{:#x}", frame.module, frame.offset)
                                     : frame.function;
    return frame.line > 0 ? fmt::format("{} ({}:{})", function, frame.file, frame.line) : function;
}

} // namespace

TimedCall read_call(const LoggedCall& call, const CallSource& source)
{
    TimedCall timed;
    static_cast<CallPlace&>(timed) = source.stacks.read(call.api, call.stack, call.ticks);
    timed.at_ns = source.clock.ns(call.ticks);
    return timed;
}

std::optional<TimedCall> read_call_if_any(const LoggedCall& call, const CallSource& source)
{
    return call.ticks == 0 ? std::nullopt : std::optional(read_call(call, source));
}

std::string key_of(const std::optional<TimedCall>& call)
{
    return call ? call->key() : std::string();
}

std::vector<Misuse> find_misuse(const std::vector<LoggedMisuse>& logged, const CallSource& source)
{
    std::map<std::string, Misuse> rows;
    for (const LoggedMisuse& one : logged) {
        Misuse misuse;
        static_cast<MisuseNumbers&>(misuse) = one;
        misuse.call = read_call(one.call, source);
        misuse.last_ns = source.clock.ns(one.last_ticks);
        misuse.allocation = read_call_if_any(one.allocation, source);
        misuse.ended = read_call_if_any(one.ended, source);
        misuse.process = source.process;
        const std::string key = fmt::format("{} {} {} ", static_cast<int>(one.kind),
                                            static_cast<int>(one.memory), one.result) +
                                misuse.call.key() + '\0' + key_of(misuse.allocation) + '\0' +
                                key_of(misuse.ended);
        const auto [at, added] = rows.try_emplace(key, misuse);
        if (added)
            continue;
        misuse.calls += at->second.calls;
        misuse.last_ns = std::max(misuse.last_ns, at->second.last_ns);
        if (at->second.call.at_ns > misuse.call.at_ns) {
            at->second = std::move(misuse);
        } else {
            at->second.calls = misuse.calls;
            at->second.last_ns = misuse.last_ns;
        }
    }
    return rows_by_time(rows, [](const Misuse& misuse) { return misuse.call.at_ns; });
}

std::vector<FailedCall> find_failed_calls(const std::vector<FailedGroup>& groups,
                                          const CallSource& source)
{
    std::map<std::string, FailedCall> rows;
    for (const FailedGroup& group : groups) {
        CallPlace place = source.stacks.read(group.api, group.stack, group.first_ticks);
        const std::uint64_t first_ns = source.clock.ns(group.first_ticks);
        const auto [at, added] = rows.try_emplace(std::to_string(group.result) + ' ' + place.key());
        FailedCall& failed = at->second;
        if (added) {
            static_cast<CallPlace&>(failed) = std::move(place);
            failed.result = group.result;
            failed.process = source.process;
            failed.first_ns = first_ns;
        }
        failed.add(group);
        failed.first_ns = std::min(failed.first_ns, first_ns);
        failed.last_ns = std::max(failed.last_ns, source.clock.ns(group.last_ticks));
    }
    return rows_by_time(rows, [](const FailedCall& failed) { return failed.first_ns; });
}

std::string describe_free(const LoggedMisuse& free, const CallSource& source)
{
    std::string text = fmt::format("{} of {:#x}", read_call(free.call, source).api, free.address);
    const auto add = [&](const char* what, const LoggedCall& call) {
        if (call.ticks == 0)
            return;
        const std::string place = place_of(read_call(call, source));
        text += fmt::format(", {} {}{}", what, place.empty() ? "by " : "at ",
                            place.empty() ? read_call(call, source).api : place);
    };
    add("allocated", free.allocation);
    add(free.kind == MisuseKind::after_context ? "its context destroyed" : "first freed",
        free.ended);
    return text;
}

} // namespace vramscope::report
