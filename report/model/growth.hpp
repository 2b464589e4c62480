// report/model/growth.hpp — memory that grows with the program's work, one row per call stack.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// Growing is what is added again and again, at the same places, up to the end of the work: found
// over marks, instances of an NVTX range, or calls where there are neither. What is freed when the
// program ends is found too, and is no leak.

// What the blocks of a row are to the program, as far as the log can tell.
enum class LeakClass {
    growing,  // more and more of them, up to the end
    start_up, // all of them early, and never again
    cache,    // a bounded number that is replaced, or that fills and levels off
    once,     // one block
    several,  // a few, here and there
    unclear,  // they grew, but not surely, or not to the end
};
template <>
struct Words<LeakClass> {
    static constexpr format::Word<LeakClass> kAll[] = {
        {LeakClass::growing, "growing"}, {LeakClass::start_up, "start-up"},
        {LeakClass::cache, "cache"},     {LeakClass::once, "once"},
        {LeakClass::several, "several"}, {LeakClass::unclear, "unclear"}};
};

// How fast, from when to when, and how sure. All zero: no growth.
struct GrowthRate {
    std::string per; // what a step is: the name of a range or a mark; empty: a call
    // The median slopes; per call where there are no steps. Of what speeds up, averages.
    double bytes_per_step = 0;
    double least_per_step = 0; // bytes: what the slope lies between, with 95 of 100 samples
    double most_per_step = 0;
    bool speeds_up = false;
    double blocks_per_step = 0;
    double bytes_per_call = 0; // over the calls that allocate here
    double bytes_per_second = 0;
    std::uint64_t steps = 0; // steps (or calls) that it was watched over, without the warm-up
    // When it grew for the first and for the last time, since the log was opened.
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    double confidence = 0; // 0 to 1, of the trend alone

    bool grows() const noexcept { return steps > 0; }
    bool has_speed() const noexcept { return last_ns - first_ns >= kLeastSpeedNs; }
    static constexpr std::uint64_t kLeastSpeedNs = 10'000'000;
    static constexpr std::string_view kCall = "call"; // the step where there are none
    std::string_view step() const { return per.empty() ? kCall : per; }
};
template <>
struct Fields<GrowthRate> {
    static constexpr const char* kName = "rate";
    static constexpr const char* kSays =
        "How fast something grows. A step is one instance of a range, or a mark; without either, "
        "an allocating call.";
    static constexpr FieldList kAll{
        Field{"per", &GrowthRate::step,
              "Name of the range or of the mark, without numbers; \"call\": there are none."}
            .not_empty(),
        Field{"bytes_per_step", &GrowthRate::bytes_per_step,
              "The median slope; of what speeds up, the average."},
        Field{"bytes_per_step_least", &GrowthRate::least_per_step,
              "95 of 100 samples have their slope from here …"}
            .since(6),
        Field{"bytes_per_step_most", &GrowthRate::most_per_step, "… to here."}.since(6),
        Field{"speeds_up", &GrowthRate::speeds_up, "Each rise is higher than those before."}.since(
            6),
        Field{"blocks_per_step", &GrowthRate::blocks_per_step},
        Field{"bytes_per_call", &GrowthRate::bytes_per_call},
        Field{"bytes_per_second", When{&GrowthRate::has_speed, &GrowthRate::bytes_per_second},
              "null: it grew for less than 10 ms, which says nothing of a second."},
        Field{"steps", &GrowthRate::steps, "That it was watched over; the warm-up is left out."},
        Field{"first_ns", &GrowthRate::first_ns, "Its first allocation."},
        Field{"last_ns", &GrowthRate::last_ns, "When it last grew for good."},
        Field{"confidence", &GrowthRate::confidence,
              "In the trend; by Mann-Kendall, and by how often it rose."}
            .at_least(0)
            .at_most(1),
    };
};

// Of so many steps (one at least) those behind the warm-up, a fifth.
constexpr std::uint64_t watched_steps(std::uint64_t steps) noexcept
{
    return std::max<std::uint64_t>(steps - std::min(steps, std::max<std::uint64_t>(1, steps / 5)),
                                   1);
}

// The least that was alive from the time before up to this one.
struct AliveTime {
    std::uint64_t ns = 0;
    std::uint64_t bytes = 0;
};

struct Growth : CallPlace {
    GrowthRate rate;
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1; // -1: not known
    std::uint64_t bytes = 0;  // how much it grew by while it was watched
    std::uint64_t blocks = 0;
    std::size_t stacks = 1;  // of one function, whose sum this is: the stack of the largest
    bool freed = false;      // nothing of it was left at the end
    std::string phase;       // the NVTX ranges around its first call, with '#' for numbers
    std::size_t process = 0; // index into Report::processes
};
template <>
struct Fields<Growth> {
    static constexpr const char* kName = "growth";
    static constexpr auto kAll = joined(
        FieldList{
            kFingerprint,
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"memory", &Growth::memory},
            Field{"device", Ordinal{&Growth::device}},
            Field{"bytes", &Growth::bytes, "That it grew by, after the warm-up."},
            Field{"blocks", &Growth::blocks},
            Field{"stacks", &Growth::stacks,
                  "Of how many call stacks of one function it is the sum, where each has too few "
                  "blocks to show it; the stack is that of the largest."}
                .at_least(1)
                .since(6),
            Field{"rate", &Growth::rate},
            Field{"freed", &Growth::freed, "Nothing of it was left at the end."},
            Field{"phase", OrNull{&Growth::phase},
                  "NVTX ranges of most of its calls, numbers as '#'."},
            Field{"process", &Growth::process, "Index into processes."},
        },
        kStack);
};

void sort_by_speed(std::vector<Growth>& growth);

// The name of a range or a mark as a unit: "step #" is told as "step".
std::string step_word(std::string name);

} // namespace vramscope::report
