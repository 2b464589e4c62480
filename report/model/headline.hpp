// report/model/headline.hpp — what was found, in a line for each kind.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/model/fields.hpp"

namespace vramscope::report {

// What hurts most comes first.
enum class HeadlineKind {
    crashed,
    out_of_memory,
    misuse,
    damage,
    leaks,
    growth,
    objects, // made again and again, and never destroyed
    workspaces,
    stray_contexts,
    failed_calls,
    // Nothing was found:
    inconclusive,
    nothing_allocated,
    clean,
};
template <>
struct Words<HeadlineKind> {
    static constexpr format::Word<HeadlineKind> kAll[] = {
        {HeadlineKind::crashed, "crashed"},
        {HeadlineKind::out_of_memory, "out-of-memory"},
        {HeadlineKind::misuse, "misuse"},
        {HeadlineKind::damage, "damage"},
        {HeadlineKind::leaks, "leaks"},
        {HeadlineKind::growth, "growth"},
        {HeadlineKind::objects, "growing-objects"},
        {HeadlineKind::workspaces, "workspaces"},
        {HeadlineKind::stray_contexts, "stray-contexts"},
        {HeadlineKind::failed_calls, "failed-calls"},
        {HeadlineKind::inconclusive, "inconclusive"},
        {HeadlineKind::nothing_allocated, "nothing-allocated"},
        {HeadlineKind::clean, "clean"},
    };
};

// One sentence: "Leaks: 2 MiB in 2 blocks were not freed, from 1 call stack".
struct Headline {
    HeadlineKind kind = HeadlineKind::clean;
    std::string title;                  // its first words, "Leaks"
    std::string rest;                   // ": 2 MiB in 2 blocks …"
    std::vector<std::size_t> processes; // that have it: indexes into Report::processes

    std::string sentence() const { return title + rest; }
    bool is_finding() const noexcept { return kind < HeadlineKind::inconclusive; }
};
template <>
struct Fields<Headline> {
    static constexpr const char* kName = "headline";
    static constexpr FieldList kAll{
        Field{"kind", &Headline::kind},
        Field{"title", &Headline::title, "The first words of the sentence."}.not_empty(),
        Field{"sentence", &Headline::sentence}.not_empty(),
        Field{"processes", &Headline::processes,
              "Indexes into processes: those that have it. Empty where nothing was found."}
            .since(6),
    };
};

} // namespace vramscope::report
