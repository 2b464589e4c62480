// report/judge/moved_lines.cpp — call places of two runs whose fingerprints differ by a line alone.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/places/fingerprint.hpp"
#include "report/judge/judge.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

template <typename Rows, typename Visit>
void each_row(Rows& rows, const Visit& visit)
{
    for (auto& row : rows)
        visit(row);
}

// `AnyReport`: a report, constant or not.
template <typename AnyReport, typename Visit>
void each_place(AnyReport& report, const Visit& visit)
{
    each_row(report.leaks, visit);
    each_row(report.imports, visit);
    each_row(report.growth, visit);
    each_row(report.workspaces, visit);
    each_row(report.objects, visit);
    each_row(report.failed_calls, visit);
    each_row(report.shortages, visit);
    each_row(report.contexts, visit);
    for (auto& row : report.misuse)
        visit(row.call);
    for (auto& row : report.damage)
        if (row.allocation)
            visit(*row.allocation);
    for (auto& process : report.processes) {
        each_row(process.churn.sites, visit);
        for (auto& device : process.memory)
            each_row(device.peak.stacks, visit);
    }
}

// A place by its functions, whatever their lines.
std::string functions_of(const CallPlace& place)
{
    std::vector<Frame> frames;
    std::vector<const Frame*> visible;
    for (const Frame& frame : place.stack) {
        frames.push_back(frame);
        frames.back().function_line = 0;
    }
    for (const Frame& frame : frames)
        visible.push_back(&frame);
    return fingerprint(place.api, visible) + place.library;
}

int line_of(const CallPlace& place)
{
    const Frame* const frame = place.own_frame();
    return frame ? frame->line : 0;
}

// The places of the same functions, in the order of their lines.
using Lines = std::set<std::pair<int, std::string>>; // with their fingerprints

std::map<std::string, Lines> lines_of(const Report& report)
{
    std::map<std::string, Lines> all;
    each_place(report, [&](const CallPlace& place) {
        if (!place.fingerprint.empty() && !place.stack.empty())
            all[functions_of(place)].emplace(line_of(place), place.fingerprint);
    });
    return all;
}

std::set<std::string> fingerprints_of(const Lines& lines)
{
    std::set<std::string> all;
    for (const auto& [line, fingerprint] : lines)
        all.insert(fingerprint);
    return all;
}

} // namespace

void follow_moved_lines(const Report& base, Report& now)
{
    const std::map<std::string, Lines> before = lines_of(base);
    std::map<std::string, std::string> moved;
    for (const auto& [functions, lines] : lines_of(now)) {
        const auto known = before.find(functions);
        if (known == before.end() || known->second.size() != lines.size() ||
            fingerprints_of(known->second) == fingerprints_of(lines))
            continue; // which of them is which nobody knows, or everybody
        auto old = known->second.begin();
        for (const auto& [line, fingerprint] : lines)
            moved[fingerprint] = (old++)->second;
    }
    each_place(now, [&](CallPlace& place) {
        if (const auto known = moved.find(place.fingerprint); known != moved.end())
            place.fingerprint = known->second;
    });
}

} // namespace vramscope::report
