// report/model/check.cpp — what a budget fails on, and the words of the JSON.
#include "report/model/check.hpp"

namespace vramscope::report {

bool Budget::fails_on(Finding finding) const noexcept
{
    return fail_on ? (*fail_on)[static_cast<std::size_t>(finding)] : finding == Finding::leaks;
}

const char* name(Finding finding) noexcept
{
    constexpr std::array<const char*, kFindings> kNames = {"leaks",  "growth", "oom",
                                                           "misuse", "damage", "failed-calls"};
    return kNames[static_cast<std::size_t>(finding)];
}

const char* name(CheckState state) noexcept
{
    switch (state) {
    case CheckState::ok:
        return "ok";
    case CheckState::failed:
        return "failed";
    case CheckState::unknown:
        break;
    }
    return "unknown";
}

const char* name(CheckUnit unit) noexcept
{
    switch (unit) {
    case CheckUnit::bytes:
        return "bytes";
    case CheckUnit::bytes_per_step:
        return "bytes/step";
    case CheckUnit::bytes_per_call:
        return "bytes/call";
    case CheckUnit::bytes_per_second:
        return "bytes/s";
    case CheckUnit::percent:
        return "percent";
    case CheckUnit::count:
        break;
    }
    return "count";
}

const char* name(Check::Verdict verdict) noexcept
{
    switch (verdict) {
    case Check::Verdict::passed:
        return "passed";
    case Check::Verdict::failed:
        return "failed";
    case Check::Verdict::nothing_observed:
        return "nothing-observed";
    case Check::Verdict::inconclusive:
        break;
    }
    return "inconclusive";
}

} // namespace vramscope::report
