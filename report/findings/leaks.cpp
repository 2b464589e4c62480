// report/findings/leaks.cpp — lost blocks become rows: kind, stack in words, equal rows joined.
#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/growth/growth_table.hpp"
#include "report/findings/leak_sums.hpp"

namespace vramscope::report {

using format::Memory;

namespace {

LeakKind kind_of(const LostBlocks& lost, const ProcessEnd& end)
{
    switch (class_of(lost.memory)) {
    case format::MemoryClass::foreign:
        return LeakKind::unclosed_import;
    case format::MemoryClass::owner:
        return LeakKind::never_destroyed;
    case format::MemoryClass::graph:
        return LeakKind::graph_owned;
    default:
        break;
    }
    const Fate fate = lost.fate;
    if (fate == Fate::context_gone)
        return LeakKind::at_reset;
    if (end.conclusive() || fate == Fate::context_gone_at_exit)
        return LeakKind::at_exit;
    return end.went_on() ? LeakKind::in_use : LeakKind::at_crash;
}

// Joins the path; a '/' inside a name stays as it is: the path is for reading.
std::string join(const std::vector<std::string>& path)
{
    std::string joined;
    for (const std::string& name : path)
        joined += (joined.empty() ? "" : "/") + name;
    return joined;
}

class LeakTable {
public:
    explicit LeakTable(const LeakSource& source) : source_(source) {}

    void add(const LostBlocks& lost)
    {
        CallPlace place = source_.stacks.read_row(lost.api, lost.stack, lost.first_ticks);
        Leak leak;
        leak.kind = kind_of(lost, source_.end);
        leak.memory = lost.memory;
        leak.device = lost.device;
        const std::string key = std::string(1, static_cast<char>(leak.kind)) +
                                static_cast<char>(leak.memory) + std::to_string(leak.device) +
                                '\0' + place.key() +
                                std::to_string(place.suppression.value_or(SIZE_MAX));
        const auto [at, added] = rows_.try_emplace(key);
        if (added) {
            static_cast<CallPlace&>(leak) = std::move(place);
            at->second.leak = std::move(leak);
        } else {
            at->second.leak.merge(place);
            at->second.leak.stacks += !source_.stacks.is_listed(lost.stack);
        }
        join_in(at->second, lost, added);
    }

    std::vector<Leak> take(const GrowthTable* growth)
    {
        std::vector<Leak> leaks;
        for (auto& [key, row] : rows_) {
            Leak& leak = row.leak;
            leak.process = source_.process;
            leak.phase = join(row.phase);
            leak.pattern = pattern_of(leak, source_.duration_ns);
            if (growth)
                growth->classify(leak, row.last_ticks);
            leak.thread_count = row.threads.size();
            for (const std::uint32_t index : row.threads) {
                if (leak.threads.size() == kMaxLeakThreads)
                    break;
                LoggedThread thread = source_.tables.thread(index);
                leak.threads.push_back({.tid = thread.tid, .name = std::move(thread.name)});
            }
            sums_.add(leak, row.last_ticks);
            leaks.push_back(std::move(leak));
        }
        return leaks;
    }

    // Of the rows that were taken.
    std::vector<LeakSum> sums(const GrowthTable* growth)
    {
        return sums_.take(source_.duration_ns, growth);
    }

private:
    struct Row {
        Leak leak;
        std::vector<std::string> phase;
        std::vector<std::uint32_t> threads; // indexes, sorted
        std::uint64_t last_ticks = 0;
    };

    void join_in(Row& row, const LostBlocks& lost, bool first)
    {
        Leak& leak = row.leak;
        const std::uint64_t first_ns = source_.clock.ns(lost.first_ticks);
        row.last_ticks = std::max(row.last_ticks, lost.last_ticks);
        leak.bytes += lost.bytes;
        leak.blocks += lost.blocks;
        leak.shared_blocks += lost.shared_blocks;
        leak.first_ns = first ? first_ns : std::min(leak.first_ns, first_ns);
        leak.last_ns = std::max(leak.last_ns, source_.clock.ns(lost.last_ticks));
        leak.phases_differ =
            leak.phases_differ || lost.phases_differ || (!first && lost.phase != row.phase);
        if (first)
            row.phase = lost.phase;
        else
            row.phase.erase(std::mismatch(row.phase.begin(), row.phase.end(), lost.phase.begin(),
                                          lost.phase.end())
                                .first,
                            row.phase.end());
        for (const std::string& name : lost.names)
            add_name(leak.names, name);
        std::vector<std::uint32_t> both;
        std::set_union(row.threads.begin(), row.threads.end(), lost.threads.begin(),
                       lost.threads.end(), std::back_inserter(both));
        row.threads = std::move(both);
    }

    const LeakSource& source_;
    std::map<std::string, Row> rows_; // sorted by place: equal input, equal order
    LeakSums sums_;
};

constexpr std::size_t kMostHeld = 50; // call stacks

std::vector<Leak>& list_of(LostRows& rows, Memory memory)
{
    switch (class_of(memory)) {
    case format::MemoryClass::foreign:
        return rows.imports;
    case format::MemoryClass::graph:
        return rows.graph_memory;
    case format::MemoryClass::owner:
        return rows.owners;
    case format::MemoryClass::addresses:
        return rows.reservations;
    default:
        return rows.leaks;
    }
}

} // namespace

std::size_t list_largest(const std::vector<LostBlocks>& lost, StackReader& stacks)
{
    if (lost.size() <= kMostListed)
        return 0;
    std::vector<const LostBlocks*> largest;
    for (const LostBlocks& blocks : lost)
        largest.push_back(&blocks);
    std::stable_sort(largest.begin(), largest.end(),
                     [](const LostBlocks* a, const LostBlocks* b) { return a->bytes > b->bytes; });
    std::unordered_set<std::uint64_t> listed;
    for (std::size_t at = 0; at < kMostListed; ++at)
        listed.insert(largest[at]->stack);
    const std::size_t others = lost.size() - kMostListed;
    stacks.list_only(std::move(listed),
                     fmt::format("({} other call stack{})", others, others == 1 ? "" : "s"));
    return others;
}

// A repeated leak grows with the run; one of start-up does not.
Pattern pattern_of(const Leak& leak, std::uint64_t duration_ns)
{
    if (leak.blocks == 1)
        return Pattern::once;
    const bool over_the_run = leak.last_ns - leak.first_ns >= duration_ns / 10;
    return leak.blocks >= 3 && over_the_run ? Pattern::repeated : Pattern::several;
}

LostRows find_leaks(const std::vector<LostBlocks>& lost, const LeakSource& source,
                    const GrowthTable* growth)
{
    LeakTable table(source);
    for (const LostBlocks& blocks : lost) {
        const bool went_with_its_context =
            is_object(blocks.memory) && blocks.fate == Fate::context_gone;
        const bool has_other_rows = class_of(blocks.memory) == format::MemoryClass::object;
        if (!went_with_its_context && !has_other_rows)
            table.add(blocks);
    }
    LostRows rows;
    for (Leak& leak : table.take(growth))
        list_of(rows, leak.memory).push_back(std::move(leak));
    rows.sums = table.sums(growth);
    return rows;
}

std::vector<Leak> find_held(std::vector<SiteShare> freed, const Sites& sites,
                            const LeakSource& source, const GrowthTable& growth)
{
    std::erase_if(freed,
                  [&](const SiteShare& share) { return !is_own_memory(sites[share.site].memory); });
    std::stable_sort(freed.begin(), freed.end(),
                     [](const SiteShare& a, const SiteShare& b) { return b.bytes < a.bytes; });
    freed.resize(std::min(freed.size(), kMostHeld));
    LeakTable table(source);
    for (const SiteShare& share : freed) {
        const Site& site = sites[share.site];
        LostBlocks held;
        held.memory = site.memory;
        held.device = site.device;
        held.api = site.api;
        held.stack = site.stack;
        held.bytes = share.bytes;
        held.blocks = share.blocks;
        held.first_ticks = site.first_ticks;
        held.last_ticks = site.last_ticks;
        table.add(held);
    }
    std::vector<Leak> rows = table.take(&growth);
    std::erase_if(rows, [](const Leak& row) { return row.suppression.has_value(); });
    for (Leak& row : rows)
        row.kind = LeakKind::freed_by_end;
    return rows;
}

} // namespace vramscope::report
