// report/model/growth.hpp — memory that grows with the program's work, one row per call stack.
#pragma once

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

// How fast, from when to when, and how sure. All zero: no growth.
struct GrowthRate {
    std::string per; // what a step is: the name of a range or a mark; empty: a call
    // The median slopes; per call where there are no steps.
    double bytes_per_step = 0;
    double blocks_per_step = 0;
    double bytes_per_call = 0; // over the calls that allocate here
    double bytes_per_second = 0;
    std::uint64_t steps = 0; // steps (or calls) that it was watched over, without the warm-up
    // When it grew for the first and for the last time, since the log was opened.
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    double confidence = 0; // 0 to 1, of the trend alone
};

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
    bool freed = false;      // nothing of it was left at the end
    std::string phase;       // the NVTX ranges around its first call, with '#' for numbers
    std::size_t process = 0; // index into Report::processes
};

void sort_by_speed(std::vector<Growth>& growth);

const char* name(LeakClass found) noexcept; // "growing", "start-up", "cache", …

} // namespace vramscope::report
