// report/judge/ranks.cpp — rows from info records, leaks joined over processes.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "report/judge/judge.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint32_t kMostRanks = 1 << 20; // more is a damaged number

std::optional<std::uint32_t> rank_number(const std::string& text)
{
    std::uint32_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value >= kMostRanks)
        return std::nullopt;
    return value;
}

Verdict verdict_of(const Process& process)
{
    if (!process.doubts.empty())
        return Verdict::inconclusive;
    return process.totals.leaks() ? Verdict::leaks : Verdict::clean;
}

std::vector<RankRow> rows_of(const Report& report)
{
    std::vector<RankRow> rows;
    for (std::size_t at = 0; at < report.processes.size(); ++at) {
        const Process& process = report.processes[at];
        rows.push_back({.process = at,
                        .rank = rank_number(process.info_value("rank")),
                        .local_rank = rank_number(process.info_value("local_rank")),
                        .world_size = rank_number(process.info_value("world_size")),
                        .local_world_size = rank_number(process.info_value("local_world_size")),
                        .launcher = process.info_value("launcher"),
                        .verdict = verdict_of(process),
                        .peak_device_bytes = process.totals.peak_device_bytes,
                        .leaked_bytes = process.totals.leaked_bytes,
                        .leaked_blocks = process.totals.leaked_blocks});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const RankRow& a, const RankRow& b) {
        return std::tuple(!a.rank, a.rank) < std::tuple(!b.rank, b.rank);
    });
    return rows;
}

struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    friend bool operator==(const Span&, const Span&) = default;
};

// Its ranks follow one another, unless the launcher deals them out in turn: then those of a node do
// not begin at one number, and no span is that of all.
std::optional<Span> node_of(const RankRow& row)
{
    if (!row.rank || !row.local_rank || !row.local_world_size || *row.local_rank > *row.rank)
        return std::nullopt;
    const std::uint32_t begin = *row.rank - *row.local_rank;
    return Span{begin, begin + *row.local_world_size};
}

// The ranks that should have logs here. Whoever looks at the logs of one node means that node.
Span expected_of(const std::vector<RankRow>& rows)
{
    const std::optional<Span> node = rows.empty() ? std::nullopt : node_of(rows.front());
    if (node && std::all_of(rows.begin(), rows.end(),
                            [&](const RankRow& row) { return node_of(row) == node; }))
        return *node;
    Span all;
    for (const RankRow& row : rows)
        all.end = std::max(all.end, row.world_size.value_or(0));
    if (all.end > 0)
        return all;
    // Where nobody says how many there are, the largest proves that the smaller ones exist.
    for (const RankRow& row : rows)
        all.end = std::max(all.end, row.rank ? *row.rank + 1 : 0);
    return all;
}

void add_missing(std::set<std::uint32_t>& missing, const std::vector<RankRow>& rows)
{
    const Span expected = expected_of(rows);
    std::set<std::uint32_t> there;
    for (const RankRow& row : rows)
        if (row.rank)
            there.insert(*row.rank);
    for (std::uint32_t rank = expected.begin; rank < expected.end; ++rank)
        if (!there.contains(rank))
            missing.insert(rank);
}

// Of each job by itself: a rank of another one is no log of it.
std::vector<std::uint32_t> missing_in(const std::vector<RankRow>& rows, const Report& report)
{
    std::map<std::string, std::vector<RankRow>> jobs;
    for (const RankRow& row : rows)
        jobs[report.processes[row.process].info_value("job")].push_back(row);
    std::set<std::uint32_t> missing;
    for (const auto& [job, its_rows] : jobs)
        add_missing(missing, its_rows);
    return {missing.begin(), missing.end()};
}

// What two leaks have in common that come from the same line of the same program.
std::string key_of(const Leak& leak)
{
    std::string key(name(leak.kind));
    for (const std::string& part : {leak.api, leak.entry_point, std::string(name(leak.memory))})
        key += '\0' + part;
    for (const Frame& frame : leak.stack)
        append_place(key, frame);
    return key;
}

} // namespace

Ranks compare_ranks(const Report& report)
{
    Ranks ranks;
    ranks.rows = rows_of(report);
    ranks.missing = missing_in(ranks.rows, report);
    std::vector<std::size_t> row_of(report.processes.size());
    for (std::size_t row = 0; row < ranks.rows.size(); ++row)
        row_of[ranks.rows[row].process] = row;
    std::map<std::string, std::map<std::size_t, std::vector<std::size_t>>> joined;
    for (std::size_t at = 0; at < report.leaks.size(); ++at)
        joined[key_of(report.leaks[at])][row_of[report.leaks[at].process]].push_back(at);
    for (const auto& [key, by_row] : joined) {
        SharedLeak shared;
        for (const auto& [row, leaks] : by_row) {
            std::uint64_t bytes = 0;
            for (const std::size_t at : leaks) {
                bytes += report.leaks[at].bytes;
                shared.blocks += report.leaks[at].blocks;
                shared.growth = std::max(shared.growth, report.leaks[at].rate.bytes_per_second);
                shared.first_ns = shared.leaks.empty()
                                      ? report.leaks[at].first_ns
                                      : std::min(shared.first_ns, report.leaks[at].first_ns);
                shared.leaks.push_back(at);
            }
            shared.least_bytes = shared.rows.empty() ? bytes : std::min(shared.least_bytes, bytes);
            shared.most_bytes = std::max(shared.most_bytes, bytes);
            shared.bytes += bytes;
            shared.rows.push_back(row);
            shared.processes.push_back(ranks.rows[row].process);
        }
        shared.on_all = shared.rows.size() == ranks.rows.size();
        ranks.leaks.push_back(std::move(shared));
    }
    std::stable_sort(ranks.leaks.begin(), ranks.leaks.end(),
                     [](const SharedLeak& a, const SharedLeak& b) { return b.bytes < a.bytes; });
    return ranks;
}

} // namespace vramscope::report
