// report/judge/compared_findings.cpp — each kind of finding but leaks, before and after.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "report/judge/finding_kinds.hpp"
#include "report/judge/judge.hpp"

namespace vramscope::report {
namespace {

struct Place : ComparedFinding {
    bool was_there = false; // in the base; a buffer that is replaced grows by no blocks
    bool is_there = false;
};
using Found = std::map<std::string, Place>; // keyed by fingerprint

double speed(const GrowthRate& rate)
{
    return rate.bytes_per_step > 0 ? rate.bytes_per_step : rate.blocks_per_step;
}

void keep_faster(const GrowthRate*& kept, const GrowthRate* rate)
{
    if (rate && (!kept || speed(*rate) > speed(*kept)))
        kept = rate;
}

// Rows of the same call stack in several processes or on several devices are one.
void add(Found& places, const FoundRow& row, bool is_new)
{
    Place& found = places[row.culprit.place->fingerprint];
    (is_new ? found.is_there : found.was_there) = true;
    found.place = row.culprit.place;
    (is_new ? found.new_bytes : found.base_bytes) += row.culprit.bytes;
    (is_new ? found.new_count : found.base_count) += row.culprit.count;
    keep_faster(is_new ? found.new_rate : found.base_rate, row.rate);
    found.proven = found.proven && (!is_new || row.proven);
}

// Two runs of one program rarely have the same rate to the byte; steps of another name say nothing.
Change change_of_rate(const GrowthRate& base, const GrowthRate& now, double tolerance)
{
    if (base.step() != now.step())
        return Change::same;
    return speed(now) > speed(base) * (1 + tolerance)   ? Change::grown
           : speed(now) < speed(base) / (1 + tolerance) ? Change::shrunk
                                                        : Change::same;
}

Change change_of(const Place& found, ComparedBy compared, double tolerance)
{
    if (!found.was_there)
        return Change::added;
    if (!found.is_there)
        return Change::gone;
    if (compared == ComparedBy::rate && found.base_rate && found.new_rate)
        return change_of_rate(*found.base_rate, *found.new_rate, tolerance);
    return found.new_count > found.base_count   ? Change::grown
           : found.new_count < found.base_count ? Change::shrunk
                                                : Change::same;
}

bool is_more(const Found& places)
{
    std::uint64_t base = 0;
    std::uint64_t now = 0;
    for (const auto& [fingerprint, found] : places) {
        base += found.base_count;
        now += found.new_count;
    }
    return now > base;
}

} // namespace

void compare_findings(Comparison& comparison, const Report& base, const Report& now,
                      double tolerance)
{
    for (const FindingKind& kind : kFindingKinds) {
        if (kind.finding == Finding::leaks || kind.with == Finding::leaks)
            continue; // Comparison::leaks has them
        Found places;
        for (const FoundRow& row : kind.rows(base))
            add(places, row, false);
        for (const FoundRow& row : kind.rows(now))
            add(places, row, true);
        if (kind.anywhere && !is_more(places))
            std::erase_if(places, [](const auto& entry) {
                return entry.second.new_count > entry.second.base_count;
            });
        for (auto& [fingerprint, found] : places) {
            found.kind = kind.word;
            found.change = change_of(found, kind.compared, tolerance);
            if (found.change != Change::same)
                comparison.findings.push_back(std::move(found));
        }
    }
    std::stable_sort(comparison.findings.begin(), comparison.findings.end(),
                     [](const ComparedFinding& a, const ComparedFinding& b) {
                         return a.change < b.change; // what is for the worse first
                     });
}

} // namespace vramscope::report
