// report/model/reach.hpp — who holds the blocks that are alive, in the memory of the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

enum class Reached {
    lost,     // nothing in the memory that was searched leads to it
    possibly, // something may, and nothing surely does
    held,
};
template <>
struct Words<Reached> {
    static constexpr format::Word<Reached> kAll[] = {
        {Reached::lost, "lost"}, {Reached::possibly, "possibly"}, {Reached::held, "held"}};
};

// Why it is not sure.
enum class ReachDoubt {
    none,
    interior,  // pointers lead into it, and none to its beginning
    shape,     // what holds it is memory that may have been freed
    registers, // nothing was found, and what the registers hold was not seen
    open,      // too many levels, or too many holders: some were not looked at
    handle,    // it has no address, but a small number
    view,      // nothing was found, and a texture or surface object may be of it
};
template <>
struct Words<ReachDoubt> {
    static constexpr format::Word<ReachDoubt> kAll[] = {
        {ReachDoubt::none, nullptr},
        {ReachDoubt::interior, "interior-pointer"},
        {ReachDoubt::shape, "unknown-memory"},
        {ReachDoubt::registers, "registers-not-seen"},
        {ReachDoubt::open, "search-not-finished"},
        {ReachDoubt::handle, "no-address"},
        {ReachDoubt::view, "texture-or-surface"},
    };
};

// A verdict and its doubt are one word in a log.
struct ReachWord {
    format::Reach in_log;
    Reached verdict;
    ReachDoubt doubt;
};
inline constexpr ReachWord kReachWords[] = {
    {format::Reach::held, Reached::held, ReachDoubt::none},
    {format::Reach::lost, Reached::lost, ReachDoubt::none},
    {format::Reach::interior, Reached::possibly, ReachDoubt::interior},
    {format::Reach::shape, Reached::possibly, ReachDoubt::shape},
    {format::Reach::registers, Reached::possibly, ReachDoubt::registers},
    {format::Reach::open, Reached::possibly, ReachDoubt::open},
    {format::Reach::handle, Reached::possibly, ReachDoubt::handle},
    {format::Reach::view, Reached::possibly, ReachDoubt::view},
};
constexpr ReachWord reach_word(format::Reach in_log) noexcept
{
    for (const ReachWord& word : kReachWords)
        if (word.in_log == in_log)
            return word;
    return {format::Reach::open, Reached::possibly, ReachDoubt::open}; // of a later version
}
constexpr format::Reach in_log(Reached verdict, ReachDoubt doubt) noexcept
{
    for (const ReachWord& word : kReachWords)
        if (word.verdict == verdict && word.doubt == doubt)
            return word.in_log;
    return format::Reach::open;
}

// Between the steps of a chain, where it is one text.
inline constexpr std::string_view kChainArrow = " -> ";

struct ReachSum {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;

    void add(std::uint64_t more) noexcept
    {
        bytes += more;
        ++blocks;
    }
    void add(const ReachSum& more) noexcept
    {
        bytes += more.bytes;
        blocks += more.blocks;
    }
};

// Of what has one for each verdict.
template <typename Sums>
ReachSum& sum_in(Sums& sums, Reached verdict)
{
    return verdict == Reached::held   ? sums.held
           : verdict == Reached::lost ? sums.lost
                                      : sums.possibly;
}

template <>
struct Fields<ReachSum> {
    static constexpr const char* kName = "reach_sum";
    static constexpr FieldList kAll{
        Field{"bytes", &ReachSum::bytes},
        Field{"blocks", &ReachSum::blocks},
    };
};

// Blocks of one stack that are held in the same way.
struct ReachGroup {
    Reached verdict = Reached::lost;
    ReachDoubt doubt = ReachDoubt::none;
    ReachSum sum;
    std::vector<std::string> chain;

    // The rest of a sentence about them: "by variable `cache` of train -> a heap block of 64 B".
    std::string how() const;
};
// Joined with those that are held in the same way.
void add_group(std::vector<ReachGroup>& groups, const ReachGroup& group);
// The lost first, and of each verdict the largest.
inline bool comes_before(const ReachGroup& one, const ReachGroup& other)
{
    return std::tie(one.verdict, other.sum.bytes, one.chain) <
           std::tie(other.verdict, one.sum.bytes, other.chain);
}
inline constexpr std::size_t kMostReachGroups = 8; // of a row

// Returns how many were left out.
inline std::size_t list_largest(std::vector<ReachGroup>& groups)
{
    std::stable_sort(groups.begin(), groups.end(), comes_before);
    const std::size_t more = groups.size() - std::min(groups.size(), kMostReachGroups);
    groups.resize(groups.size() - more);
    return more;
}

inline std::vector<std::string> steps_of(std::string_view chain)
{
    std::vector<std::string> steps;
    while (!chain.empty()) {
        const std::size_t end = std::min(chain.find(kChainArrow), chain.size());
        steps.emplace_back(chain.substr(0, end));
        chain.remove_prefix(std::min(end + kChainArrow.size(), chain.size()));
    }
    return steps;
}

template <>
struct Fields<ReachGroup> {
    static constexpr const char* kName = "reach_group";
    static constexpr FieldList kAll{
        Field{"verdict", &ReachGroup::verdict,
              "held: a variable, a stack, a register or other memory of the program leads to the "
              "beginning of it. possibly: see doubt. lost: nothing in the memory that was searched "
              "leads to it."},
        Field{"doubt", &ReachGroup::doubt,
              "Why it is only possibly held. interior-pointer: only into it. unknown-memory: from "
              "memory that may have been freed. registers-not-seen: nothing was found, and the "
              "program was not stopped. search-not-finished: there were too many holders. "
              "no-address: it is known by a small number, which cannot be searched for. "
              "texture-or-surface: nothing was found of an array, and there are texture or surface "
              "objects, which lead to theirs."},
        Field{"sum", &ReachGroup::sum},
        Field{"chain", &ReachGroup::chain,
              "What holds it, from outside inwards; of a lost one, the blocks that point to it and "
              "that nothing leads to."}
            .lines(),
        Field{"how", &ReachGroup::how, "The same as the rest of a sentence about the blocks."}
            .not_empty(),
    };
};

// A search that a log has: `run --reach`.
struct MemorySearch {
    std::uint64_t ns = 0; // when it began, since the log was opened
    std::uint64_t searched_bytes = 0;
    bool stopped = false;
    std::string doubts;
    ReachSum lost, possibly, held;
};
template <>
struct Fields<MemorySearch> {
    static constexpr const char* kName = "memory_search";
    static constexpr FieldList kAll{
        Field{"ns", &MemorySearch::ns, "When it began, since the log was opened."},
        Field{"searched_bytes", &MemorySearch::searched_bytes},
        Field{"stopped", &MemorySearch::stopped,
              "Its threads stood still, and their registers were seen."},
        Field{"doubts", OrNull{&MemorySearch::doubts}, "What makes the verdicts weaker."},
        Field{"lost", &MemorySearch::lost, "Of all blocks that were alive then."},
        Field{"possibly", &MemorySearch::possibly},
        Field{"held", &MemorySearch::held},
    };
};

struct ReachRow : CallPlace {
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1; // -1: not known
    ReachSum all, lost, possibly, held;
    std::vector<ReachGroup> groups; // the lost first, and of each verdict the largest
    std::uint64_t more_groups = 0;  // were left out
};
template <>
struct Fields<ReachRow> {
    static constexpr const char* kName = "reach_row";
    static constexpr auto kAll = joined(
        FieldList{
            kFingerprint,
            Field{"api", &CallPlace::api,
                  "The function that the program called, as in cudaMalloc."},
            Field{"memory", &ReachRow::memory},
            Field{"device", Ordinal{&ReachRow::device}},
            Field{"all", &ReachRow::all},
            Field{"lost", &ReachRow::lost},
            Field{"possibly", &ReachRow::possibly},
            Field{"held", &ReachRow::held},
            Field{"groups", &ReachRow::groups, "The lost first, and of each verdict the largest."}
                .not_empty(),
            Field{"more_groups", &ReachRow::more_groups, "That were left out."},
        },
        kStack);
};

struct Reach {
    std::uint32_t pid = 0;
    std::string program;
    bool stopped = false;
    std::uint64_t searched_bytes = 0; // by each search
    std::uint64_t searches = 0;
    std::vector<std::string> notices; // what makes verdicts weaker
    ReachSum all, lost, possibly, held;
    std::vector<ReachRow> rows; // those that lost the most first
};
template <>
struct Fields<Reach> {
    static constexpr const char* kName = "reach";
    static constexpr unsigned kMinorVersion = 0;
    static constexpr FieldList kAll{
        Field{"pid", &Reach::pid},
        Field{"program", OrNull{&Reach::program}},
        Field{"stopped", &Reach::stopped,
              "Its threads stood still, and their registers were seen."},
        Field{"searched_bytes", &Reach::searched_bytes, "Of its memory, by the last search."},
        Field{"searches", &Reach::searches,
              "One for pointers to the blocks, and one for each level of what holds them."},
        Field{"notices", &Reach::notices, "What makes the verdicts weaker."}.lines(),
        Field{"all", &Reach::all, "Blocks that are alive."},
        Field{"lost", &Reach::lost},
        Field{"possibly", &Reach::possibly},
        Field{"held", &Reach::held},
        Field{"rows", &Reach::rows, "A row for each call stack: those that lost the most first."},
    };
};

} // namespace vramscope::report
