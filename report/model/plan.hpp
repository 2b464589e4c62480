// report/model/plan.hpp — would it fit: what allocators would need for what logs asked of theirs.
//
// All numbers are bytes of one process on one device, unless a comment says otherwise. A card is a
// device of that many bytes, of which `base` is taken before the program's allocator gets any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/memory.hpp"
#include "report/model/unread_file.hpp"

namespace vramscope::report {

// Blocks of one call stack that keep segments from going back to the driver.
struct PlanPin : CallPlace {
    std::uint64_t pinned = 0; // free bytes of the segments that only its blocks hold
    std::uint64_t bytes = 0;  // of its blocks there
    std::uint64_t blocks = 0;
    std::uint64_t segments = 0;
};

// The request that a replay could not serve. Its stack is that of the request in the log.
struct PlanShortage : TimedCall {
    std::uint64_t requested = 0;
    std::uint64_t reserved = 0; // by the allocator then, after all that could go back did
    std::uint64_t allocated = 0;
    std::uint64_t beside = 0;             // what the program had past its allocator
    std::uint64_t largest_free = 0;       // the largest free piece in what was reserved
    bool is_beside = false;               // what failed went past the allocator
    std::vector<PlanPin> would_make_room; // the fewest bytes to free; `pinned` and `segments` are 0
};

struct PlanCard { // of --card
    std::uint64_t bytes = 0;
    bool fits = false;
    std::uint64_t retries = 0;
    std::uint64_t shortages = 0;          // requests that were not served
    std::optional<PlanShortage> shortage; // the first of them
};

struct PlanPolicy {
    std::string name;      // as --policy takes it
    std::string words;     // for people
    std::string unsure;    // what in its rules is a guess; empty: nothing
    bool recorded = false; // it is the one that the program ran with, as far as the log tells
    // On a device without an end. All of one moment, the first at which most was reserved.
    std::uint64_t peak_reserved = 0;
    std::uint64_t allocated_then = 0; // live blocks as they were rounded up
    std::uint64_t requested_then = 0; // the same as the program asked for them
    std::uint64_t device_calls = 0;   // that take memory and give it back: a count
    // The whole device: with the base, and what the program had past its allocator. Not looked for
    // where a log is long and other policies need less; nor where none is enough.
    bool searched = false;
    std::optional<std::uint64_t> smallest_card;
    std::optional<std::uint64_t>
        fails_above;             // larger, and yet too small: more is not always enough
    std::vector<PlanCard> cards; // in the order of --card

    double fragmentation() const noexcept // the part of the reserved bytes that no block has
    {
        return peak_reserved == 0
                   ? 0
                   : 1 - static_cast<double>(allocated_then) / static_cast<double>(peak_reserved);
    }
};

// Who had what was alive at the peak of what was asked for.
struct PlanHolder : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::string phase; // NVTX range, numbers as #; empty: none
};

// A change to the program, and what a replay with that change says.
struct PlanSaving : CallPlace {
    AdviceKind kind = AdviceKind::never_freed; // no redundant_pairs
    std::uint64_t bytes = 0;                   // at the peak
    std::uint64_t blocks = 0;
    std::string phase; // that the memory is of, or is kept for
    // By how much less is reserved at most, under the first policy; 0: not less.
    std::uint64_t saves_reserved = 0;
    std::uint64_t saves_live = 0; // the same of what was asked for
};

// One buffer for all blocks of two call stacks of one stream, and what a replay with it says.
struct PlanSharing {
    PlanHolder first; // bytes: its most at once; blocks: over the whole run
    PlanHolder second;
    std::uint64_t bytes = 0; // of the buffer
    bool at_once = false;    // at some moment both have blocks: they lie beside each other then
    // By how much less is reserved at most, under the first policy, than as the program is, and
    // than with a buffer for one of them, or one for each.
    std::uint64_t saves_reserved = 0;
};

// What the best order of addresses could reach, if all lives were known before: nobody knows the
// optimum, it lies between these.
struct PlanPacking {
    std::uint64_t lower = 0; // what is alive at once
    std::uint64_t upper = 0; // a placement that was found
    std::uint64_t blocks = 0;
    std::string method; // "by size", …: how
};

struct PlanDevice {
    std::int32_t device = -1;       // -1: not known
    std::uint64_t device_bytes = 0; // of the one that it ran on; 0: not known
    bool base_known = false;
    std::uint64_t base = 0;
    std::uint64_t requests = 0;  // a count
    std::uint64_t live_peak = 0; // what was asked for and not given back, at most
    std::uint64_t live_peak_ns = 0;
    std::uint64_t beside_peak = 0;       // what the program had past its allocator, at most
    std::uint64_t recorded_reserved = 0; // at most, by the log
    std::vector<PlanPolicy> policies;    // the first is the one that is judged
    std::vector<PlanHolder> holders;     // the largest first
    std::uint64_t more_holders = 0;      // that are left out: a count, and their bytes
    std::uint64_t more_bytes = 0;
    std::vector<PlanSaving> savings;  // the largest first
    std::vector<PlanSharing> sharing; // the same; each pair by itself
    std::optional<PlanPacking> packing;
    std::optional<PlanCard> recorded_failure; // on the device that it ran on, if it failed there
    std::vector<PlanPin> pins_at_peak;        // under the first policy; the largest first
    std::vector<PlanPin> pins_at_end;
    std::vector<std::string> unknown; // what the log does not tell, in whole sentences

    // The policy that needs the smallest card, bounds aside; nullptr: none fits on any.
    const PlanPolicy* best() const noexcept;
};
// Estimates on the good side, and what could move memory: no program can have them.
inline constexpr std::array<const char*, 2> kBoundPolicies{"ideal", "async-best"};

struct PlanProcess {
    std::uint32_t pid = 0;
    std::string program;
    std::filesystem::path log;
    std::string allocator;           // whose blocks the requests are: "PyTorch"; empty: CUDA's
    std::string pool_mode;           // "cache"; empty: the log does not say
    std::vector<std::string> doubts; // why the log may lack requests, one line each
    std::vector<PlanDevice> devices;
};

enum class PlanVerdict {
    fits,         // on every --card; or none was asked
    does_not_fit, // on one of them
    unknown,      // it fits as far as the logs show, and they may lack requests
    nothing,      // no log asked for device memory
};
const char* name(PlanVerdict verdict) noexcept; // "does-not-fit"

// The peak, or what one call stack had of it, over the runs of --scale: fixed + each * x.
struct PlanLine {
    double fixed = 0; // bytes
    double each = 0;  // bytes for one more of the dimension
    double error = 0; // standard error of what the line says at a run, in bytes; 0: two runs alone
};
struct PlanScaledStack : CallPlace {
    PlanLine line;
    std::vector<std::uint64_t> bytes; // in the order of the runs
};
struct PlanScaledCard {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> largest; // of the dimension; nothing: not even 1, or no end
    std::uint64_t least = 0, most = 0;    // with twice the error, either way
};
struct PlanScale {
    std::string dimension; // "batch"
    std::vector<std::uint64_t> values;
    std::vector<std::uint64_t> live;     // peaks of each run
    std::vector<std::uint64_t> reserved; // under the policy that is judged, with base and beside
    PlanLine live_line;
    PlanLine reserved_line;
    std::vector<PlanScaledStack> stacks; // those that grow most first
    std::vector<PlanScaledCard> cards;
};

// The answer comes from the device that needs most, or for which nothing is enough.
struct PlanAnswer {
    const PlanProcess* process = nullptr; // nullptr: no log asked for device memory
    const PlanDevice* device = nullptr;
    const PlanPolicy* best = nullptr; // nullptr: none fits on any card
    bool helps = false;               // `best` is worth a change of the allocator's setting
    std::uint64_t saved = 0;          // of the card, by `best`
    // What the smallest --card lacks for `best`; 0: nothing, or no card was asked for.
    std::uint64_t missing = 0;

    const PlanPolicy& judged() const { return device->policies.front(); }
};

struct Plan {
    PlanVerdict verdict = PlanVerdict::nothing;
    bool interrupted = false;
    std::vector<std::uint64_t> cards; // of --card
    std::vector<PlanProcess> processes;
    std::optional<PlanScale> scale;
    std::vector<std::string> notices;
    std::vector<UnreadFile> unread_files;

    int exit_status() const noexcept; // see README.md of tools
    PlanAnswer answer() const noexcept;
    // What is not sure of the policies, and of which: a sentence, and their names.
    std::map<std::string, std::string> guesses() const;
};

} // namespace vramscope::report
