// report/judge/comparison.cpp — call stacks and numbers of two reports, side by side.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/judge/finding_kinds.hpp"
#include "report/judge/judge.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

using Places = std::map<std::string, ComparedPlace>; // keyed by fingerprint

enum class Side { base, now };
enum class By { bytes, count };

void add(Places& places, Side side, const CallPlace& row, format::Memory memory,
         std::uint64_t bytes, std::uint64_t count)
{
    ComparedPlace& place = places[row.fingerprint + name(memory)];
    place.place = &row;
    (side == Side::base ? place.base_bytes : place.new_bytes) += bytes;
    (side == Side::base ? place.base_count : place.new_count) += count;
}

template <typename Row>
void add(Places& places, Side side, const std::vector<Row>& rows)
{
    for (const Row& row : rows)
        add(places, side, row, row.memory, row.bytes, row.blocks);
}

// The number that decides, and the one that does where the first is the same on both sides. Imports
// have no bytes of the program's own.
std::pair<std::uint64_t, std::uint64_t> base_of(const ComparedPlace& place, By by)
{
    return by == By::bytes ? std::pair(place.base_bytes, place.base_count)
                           : std::pair(place.base_count, place.base_bytes);
}
std::pair<std::uint64_t, std::uint64_t> now_of(const ComparedPlace& place, By by)
{
    return by == By::bytes ? std::pair(place.new_bytes, place.new_count)
                           : std::pair(place.new_count, place.new_bytes);
}

Change change_of(const ComparedPlace& place, By by)
{
    if (place.base_count == 0)
        return Change::added;
    if (place.new_count == 0)
        return Change::gone;
    const auto base = base_of(place, by);
    const auto now = now_of(place, by);
    return now == base ? Change::same : base < now ? Change::grown : Change::shrunk;
}

// The largest change for the worse first.
std::vector<ComparedPlace> changed(Places& places, By by)
{
    std::vector<ComparedPlace> changes;
    for (auto& [key, place] : places) {
        place.change = change_of(place, by);
        if (place.change != Change::same)
            changes.push_back(place);
    }
    const auto more = [by](const ComparedPlace& place) {
        return static_cast<std::int64_t>(now_of(place, by).first - base_of(place, by).first);
    };
    std::stable_sort(
        changes.begin(), changes.end(),
        [&](const ComparedPlace& a, const ComparedPlace& b) { return more(a) > more(b); });
    return changes;
}

// A stack that is not among those that the other side lists may be among those it left out.
void forget_unproven(std::vector<ComparedPlace>& places, bool base_is_whole, bool now_is_whole)
{
    std::erase_if(places, [&](const ComparedPlace& place) {
        return (place.change == Change::added && !base_is_whole) ||
               (place.change == Change::gone && !now_is_whole);
    });
}

void compare_leaks(Comparison& comparison, const Report& base, const Report& now)
{
    Places places;
    add(places, Side::base, base.leaks);
    add(places, Side::base, base.imports);
    add(places, Side::now, now.leaks);
    add(places, Side::now, now.imports);
    comparison.leaks = changed(places, By::bytes);
    comparison.same_leaks = places.size() - comparison.leaks.size();
}

void compare_peaks(Comparison& comparison, const Report& base, const Report& now)
{
    const MemoryReport* const base_device = device_of_peak(base);
    const MemoryReport* const new_device = device_of_peak(now);
    if (!base_device || !new_device)
        return;
    const Peak& before = base_device->peak;
    const Peak& after = new_device->peak;
    Places places;
    add(places, Side::base, before.stacks);
    add(places, Side::now, after.stacks);
    comparison.peak = changed(places, By::bytes);
    forget_unproven(comparison.peak, before.more_stacks == 0, after.more_stacks == 0);
}

// True: all places that allocate are among them.
bool add_churn(Places& places, Side side, const Report& report)
{
    std::uint64_t left_out = 0;
    for (const Process& process : report.processes) {
        for (const ChurnSite& site : process.churn.sites)
            add(places, side, site, site.memory, site.allocated_bytes, site.allocations);
        left_out += process.churn.more_sites;
    }
    return left_out == 0;
}

void compare_churn(Comparison& comparison, const Report& base, const Report& now)
{
    Places places;
    const bool base_is_whole = add_churn(places, Side::base, base);
    const bool now_is_whole = add_churn(places, Side::now, now);
    comparison.churn = changed(places, By::count);
    forget_unproven(comparison.churn, base_is_whole, now_is_whole);
}

class Numbers {
public:
    Numbers(const Report& base, const Report& now, double tolerance)
        : base_report_(base), now_report_(now), base_(base.summary()), now_(now.summary()),
          tolerance_(tolerance)
    {
    }

    std::vector<ComparedNumber> compared()
    {
        // Of leaks, the call stacks say what is worse.
        add("leaked_bytes", &Summary::leaked_bytes, CheckUnit::bytes, Worse::never);
        add("leaked_blocks", &Summary::leaked_blocks, CheckUnit::count, Worse::never);
        add("unclosed_imports", &Summary::unclosed_imports, CheckUnit::count, Worse::never);
        add("peak_bytes", &Summary::peak_bytes, CheckUnit::bytes, Worse::beyond_tolerance);
        add_hidden_peaks();
        add("peak_reserved_bytes", &Summary::peak_reserved_bytes, CheckUnit::bytes,
            Worse::beyond_tolerance);
        add("peak_host_bytes", &Summary::peak_host_bytes, CheckUnit::bytes,
            Worse::beyond_tolerance);
        add("allocations", &Summary::allocations, CheckUnit::count, Worse::never);
        add("driver_calls", &Summary::driver_calls, CheckUnit::count, Worse::beyond_some_calls);
        add("out_of_memory", &Summary::out_of_memory, Finding::out_of_memory);
        add("wrong_frees", &Summary::wrong_frees, Finding::misuse);
        add("damaged_blocks", &Summary::damaged_blocks, Finding::damage);
        return std::move(numbers_);
    }

private:
    enum class Worse { never, if_more, beyond_tolerance, beyond_some_calls };

    static constexpr double kSomeCalls = 16; // what a program may do more at its start

    // How often something of a kind was found.
    void add(const char* name, std::uint64_t Summary::*member, Finding finding)
    {
        add(name, member, CheckUnit::count, Worse::if_more);
        numbers_.back().kind = kind_of(finding).word;
    }

    void add(const char* name, std::uint64_t Summary::*member, CheckUnit unit, Worse worse)
    {
        ComparedNumber number{
            .name = name, .unit = unit, .base = base_.*member, .now = now_.*member, .kind = {}};
        const double allowed = worse == Worse::if_more ? 0 : tolerance_;
        const double some = worse == Worse::beyond_some_calls ? kSomeCalls : 0;
        number.regressed = worse != Worse::never && is_more(number, allowed, some);
        numbers_.push_back(std::move(number));
    }

    static bool is_more(const ComparedNumber& number, double allowed, double some)
    {
        return static_cast<double>(number.now) >
               static_cast<double>(number.base) * (1 + allowed) + some;
    }

    // Behind the highest of all devices, which has not become higher, that of another one may have.
    void add_hidden_peaks()
    {
        if (numbers_.back().regressed)
            return;
        const std::map<std::int32_t, std::uint64_t> before = peaks_of(base_report_);
        const std::map<std::int32_t, std::uint64_t> after = peaks_of(now_report_);
        for (const auto& [device, peak] : after) {
            const auto known = before.find(device);
            if (known == before.end() && after.size() <= before.size())
                continue; // it ran elsewhere
            ComparedNumber number{.name = "peak_bytes",
                                  .unit = CheckUnit::bytes,
                                  .base = known == before.end() ? 0 : known->second,
                                  .now = peak,
                                  .regressed = true,
                                  .device = device,
                                  .kind = {}};
            if (is_more(number, tolerance_, 0))
                numbers_.push_back(std::move(number));
        }
    }

    static std::map<std::int32_t, std::uint64_t> peaks_of(const Report& report)
    {
        std::map<std::int32_t, std::uint64_t> peaks;
        for (const Process& process : report.processes)
            for (const MemoryReport& device : process.memory)
                peaks[device.device] = std::max(peaks[device.device], device.peak_allocated());
        return peaks;
    }

    const Report& base_report_;
    const Report& now_report_;
    const Summary base_;
    const Summary now_;
    double tolerance_;
    std::vector<ComparedNumber> numbers_;
};

// Wherever the file lies.
bool has_frame_in(const Report& report, const std::string& module)
{
    for (const FindingKind& kind : kFindingKinds)
        for (const FoundRow& row : kind.rows(report))
            for (const Frame& frame : row.culprit.place->stack)
                if (file_name(frame.module) == file_name(module))
                    return true;
    return false;
}

// A file whose functions have names in one of the two alone: no call stack of it is the same.
void add_unread_names(std::vector<std::string>& doubts, const char* side, const Report& unread,
                      const Report& other)
{
    for (const UnreadFile& file : unread.unread_files)
        if (std::none_of(other.unread_files.begin(), other.unread_files.end(),
                         [&](const UnreadFile& one) {
                             return file_name(one.path) == file_name(file.path);
                         }) &&
            has_frame_in(unread, file.path) && has_frame_in(other, file.path))
            doubts.push_back(
                fmt::format("{}functions of {} have no names here ({}), so that call stacks cannot "
                            "be compared: "
                            "`vramscope symbolize LOG` keeps them, before the file changes",
                            side, file.path, file.why));
}

// Where the newer log ended early, what has grown in it would only have grown further. Where the
// base ended early, nothing is known.
void judge(Comparison& comparison, const Report& base, const Report& now, bool same_names)
{
    const bool numbers_worse =
        std::any_of(comparison.numbers.begin(), comparison.numbers.end(),
                    [](const ComparedNumber& number) { return number.regressed; });
    const auto leaks = [&](auto... changes) {
        return std::any_of(
            comparison.leaks.begin(), comparison.leaks.end(),
            [&](const ComparedPlace& place) { return ((place.change == changes) || ...); });
    };
    const auto findings = [&](bool proven, auto... changes) {
        return std::any_of(comparison.findings.begin(), comparison.findings.end(),
                           [&](const ComparedFinding& row) {
                               return (row.proven || !proven) && ((row.change == changes) || ...);
                           });
    };
    const bool leaks_worse = same_names ? leaks(Change::added, Change::grown)
                                        : now.totals.leaked_bytes > base.totals.leaked_bytes;
    const bool findings_worse =
        same_names && findings(!now.reasons.empty(), Change::added, Change::grown);
    const bool proven = base.reasons.empty() &&
                        (numbers_worse || findings_worse || (leaks_worse && now.reasons.empty()));
    if (proven) {
        comparison.verdict = Comparison::Verdict::worse;
        comparison.exit = Exit::regressed;
    } else if (saw_nothing(base) || saw_nothing(now)) {
        comparison.verdict = Comparison::Verdict::nothing_observed;
        comparison.exit = Exit::nothing_observed;
    } else if (!comparison.doubts.empty()) {
        comparison.verdict = Comparison::Verdict::inconclusive;
        comparison.exit = Exit::incomplete;
    } else {
        const bool better =
            leaks(Change::shrunk, Change::gone) || findings(false, Change::shrunk, Change::gone);
        comparison.verdict = better ? Comparison::Verdict::better : Comparison::Verdict::same;
        comparison.exit = Exit::ok;
    }
}

} // namespace

Comparison compare(const Report& base, const Report& now, double tolerance)
{
    Comparison comparison;
    for (const std::string& doubt : doubts_of_run(base))
        comparison.doubts.push_back("base: " + doubt);
    for (const std::string& doubt : doubts_of_run(now))
        comparison.doubts.push_back("new: " + doubt);
    const std::size_t doubts = comparison.doubts.size();
    add_unread_names(comparison.doubts, "base: ", base, now);
    add_unread_names(comparison.doubts, "new: ", now, base);
    const bool same_names = comparison.doubts.size() == doubts;
    compare_leaks(comparison, base, now);
    compare_peaks(comparison, base, now);
    compare_churn(comparison, base, now);
    compare_findings(comparison, base, now, tolerance);
    compare_reach(comparison, base, now);
    compare_objects(comparison, base, now);
    compare_owners(comparison, base, now);
    comparison.numbers = Numbers(base, now, tolerance).compared();
    judge(comparison, base, now, same_names);
    return comparison;
}

} // namespace vramscope::report
