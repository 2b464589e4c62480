// report/page/page.hpp — a report, a plan or a job as one page for a browser: all is inside it.
//
// A page loads nothing and sends nothing: its policy lets only its own script and style run, each
// known by a hash. What comes from logs is data, never markup. It has at most kMostPageBytes, for
// any log: what was thinned for that, the page says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "report/symbols/file_places.hpp"

namespace vramscope::report {

struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Report;

inline constexpr std::size_t kMostPageBytes = 5'000'000;

// What a page tells of the program's sources beside the report.
struct PageSources {
    // The address of a line, with {file}, {path} and {line}; empty: no links. It is trusted.
    std::string url;
    std::filesystem::path root = {};      // {file} is below it
    std::optional<FilePlaces> lines = {}; // where some lines are read from; nothing: they are not
};

// Why vramscope was built without what a page is made of; empty: pages can be written.
std::string_view why_no_pages() noexcept;

// `view`: the command that the page is for, whose part it begins with: "report", "leaks", "peak".
// `until_ns`: the time up to which the logs were read, since they were opened, where that was told.
// Call it only if why_no_pages() is empty.
std::string page_of(const Report& report, std::string_view view,
                    std::optional<std::uint64_t> until_ns = {}, const PageSources& sources = {});
// Held against a budget, which comes first.
std::string page_of(const Check& check, const Report& report, const PageSources& sources = {});
// Of the newer one, with what changed, and the base's timeline beside its own.
std::string page_of(const Comparison& comparison, const Report& base, const Report& now,
                    const PageSources& sources = {});
std::string page_of(const Plan& plan, const PageSources& sources = {});
// All ranks are in it, however many there are: each is a few numbers.
std::string page_of(const Job& job, const PageSources& sources = {});

} // namespace vramscope::report
