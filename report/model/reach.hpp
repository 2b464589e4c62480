// report/model/reach.hpp — who holds the blocks that are alive, in the memory of the process.
#pragma once

#include <cstdint>
#include <string>
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
    };
};

struct ReachSum {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;

    void add(std::uint64_t more) noexcept
    {
        bytes += more;
        ++blocks;
    }
};
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
};
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
              "no-address: it is known by a small number, which cannot be searched for."},
        Field{"sum", &ReachGroup::sum},
        Field{"chain", &ReachGroup::chain,
              "What holds it, from outside inwards; of a lost one, the blocks that point to it and "
              "that nothing leads to."}
            .lines(),
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
