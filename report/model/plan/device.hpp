// report/model/plan/device.hpp — what allocators would need for what one process asked of a device.
//
// All numbers are bytes, unless a comment says otherwise. A card is a device of that many bytes, of
// which `base` is taken before the program's allocator gets any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/memory/memory.hpp"

namespace vramscope::report {

// A call, as in the report: the end of these rows.
inline constexpr auto kPlace =
    joined(FieldList{kFingerprint, Field{"api", &CallPlace::api},
                     Field{"entry_point", OrNull{&CallPlace::entry_point}}},
           kStack);

// Blocks of one call stack that keep segments from going back to the driver.
struct PlanPin : CallPlace {
    std::uint64_t pinned = 0; // free bytes of the segments that only its blocks hold
    std::uint64_t bytes = 0;  // of its blocks there
    std::uint64_t blocks = 0;
    std::uint64_t segments = 0;
};
template <>
struct Fields<PlanPin> {
    static constexpr const char* kName = "pin";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"pinned_bytes", &PlanPin::pinned,
                  "Free memory in the segments that its blocks are in."},
            Field{"bytes", &PlanPin::bytes, "Of its blocks there."},
            Field{"blocks", &PlanPin::blocks},
            Field{"segments", &PlanPin::segments},
        },
        kPlace);
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
template <>
struct Fields<PlanShortage> {
    static constexpr const char* kName = "shortage";
    static constexpr const char* kSays = "The first request that a replay could not serve.";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"at_ns", &PlanShortage::at_ns},
            Field{"requested_bytes", &PlanShortage::requested},
            Field{"reserved_bytes", &PlanShortage::reserved,
                  "By the allocator then, after all that could go back did."},
            Field{"allocated_bytes", &PlanShortage::allocated},
            Field{"beside_bytes", &PlanShortage::beside},
            Field{"largest_free_bytes", &PlanShortage::largest_free,
                  "The largest free piece in what was reserved."},
            Field{"is_beside", &PlanShortage::is_beside, "What failed went past the allocator."},
            Field{"would_make_room", &PlanShortage::would_make_room,
                  "Blocks whose release would have made room, those of the fewest bytes, by call "
                  "stack; pinned_bytes and segments are 0."},
        },
        kPlace);
};

struct PlanCard { // of --card
    std::uint64_t bytes = 0;
    bool fits = false;
    std::uint64_t retries = 0;
    std::uint64_t shortages = 0;          // requests that were not served
    std::optional<PlanShortage> shortage; // the first of them
};
template <>
struct Fields<PlanCard> {
    static constexpr const char* kName = "card";
    static constexpr FieldList kAll{
        Field{"bytes", &PlanCard::bytes},
        Field{"fits", &PlanCard::fits},
        Field{"retries", &PlanCard::retries,
              "How often cached memory was given back and asked for again."},
        Field{"shortages", &PlanCard::shortages, "Requests that were not served."},
        Field{"first_shortage", &PlanCard::shortage},
    };
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
template <>
struct Fields<PlanPolicy> {
    static constexpr const char* kName = "policy";
    static constexpr FieldList kAll{
        Field{"name", &PlanPolicy::name, "As --policy takes it."}.not_empty(),
        Field{"words", &PlanPolicy::words},
        Field{"unsure", OrNull{&PlanPolicy::unsure},
              "What in its rules is a guess; null: nothing."},
        Field{"recorded", &PlanPolicy::recorded,
              "The program ran with it, as far as the log tells."},
        Field{"peak_reserved_bytes", &PlanPolicy::peak_reserved,
              "On a device without an end; the next two are of the same moment."},
        Field{"allocated_bytes_then", &PlanPolicy::allocated_then,
              "Live blocks as the policy rounded them up."},
        Field{"requested_bytes_then", &PlanPolicy::requested_then,
              "The same as the program asked for them."},
        Field{"fragmentation", &PlanPolicy::fragmentation,
              "The part of the reserved bytes that no block had then."}
            .at_least(0)
            .at_most(1),
        Field{"device_calls", &PlanPolicy::device_calls,
              "Calls that take device memory and give it back."},
        Field{"searched", &PlanPolicy::searched, "Whether the smallest card was looked for."},
        Field{"smallest_card_bytes", &PlanPolicy::smallest_card,
              "The whole device, base and what is beside included; 2 MiB less are too few. null: "
              "not searched, or none is enough."},
        Field{"fails_above_bytes", &PlanPolicy::fails_above,
              "A larger card that is too small all the same: more is not always enough."},
        Field{"cards", &PlanPolicy::cards, "Those of --card, in their order."},
    };
};

// Who had what was alive at the peak of what was asked for.
struct PlanHolder : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::string phase; // NVTX range, numbers as #; empty: none
};
template <>
struct Fields<PlanHolder> {
    static constexpr const char* kName = "holder";
    static constexpr auto kAll =
        joined(FieldList{Field{"bytes", &PlanHolder::bytes}, Field{"blocks", &PlanHolder::blocks},
                         Field{"phase", OrNull{&PlanHolder::phase},
                               "The NVTX range around it, numbers as #."}},
               kPlace);
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
template <>
struct Fields<PlanSaving> {
    static constexpr const char* kName = "saving";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"kind", &PlanSaving::kind}.never("redundant-pairs"),
            Field{"bytes", &PlanSaving::bytes, "At the peak, as are the blocks."},
            Field{"blocks", &PlanSaving::blocks},
            Field{"phase", OrNull{&PlanSaving::phase},
                  "The range that the memory is of, or is kept for."},
            Field{"saves_reserved_bytes", &PlanSaving::saves_reserved,
                  "By how much less is reserved at most, by the replay."},
            Field{"saves_live_bytes", &PlanSaving::saves_live},
        },
        kPlace);
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
template <>
struct Fields<PlanSharing> {
    static constexpr const char* kName = "sharing";
    static constexpr FieldList kAll{
        Field{"first", &PlanSharing::first,
              "Its bytes are its most at once, its blocks those of the whole run."},
        Field{"second", &PlanSharing::second},
        Field{"buffer_bytes", &PlanSharing::bytes},
        Field{"live_at_once", &PlanSharing::at_once,
              "At some moment both have blocks, which then lie beside each other."},
        Field{"saves_reserved_bytes", &PlanSharing::saves_reserved,
              "By how much less is reserved at most, by the replays, than as the program is, and "
              "than with a buffer for one of them or one for each."},
    };
};

// What the best order of addresses could reach, if all lives were known before: nobody knows the
// optimum, it lies between these.
struct PlanPacking {
    std::uint64_t lower = 0; // what is alive at once
    std::uint64_t upper = 0; // a placement that was found
    std::uint64_t blocks = 0;
    std::string method; // "by size", …: how
};
template <>
struct Fields<PlanPacking> {
    static constexpr const char* kName = "packing";
    static constexpr FieldList kAll{
        Field{"lower_bytes", &PlanPacking::lower, "What is alive at once."},
        Field{"upper_bytes", &PlanPacking::upper,
              "A placement that was found: the optimum lies between the two."},
        Field{"blocks", &PlanPacking::blocks},
        Field{"method", &PlanPacking::method}.not_empty(),
    };
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
};
template <>
struct Fields<PlanDevice> {
    static constexpr const char* kName = "device";
    static constexpr const char* kSays = "What one process asked for on one device.";
    static constexpr FieldList kAll{
        Field{"device", Ordinal{&PlanDevice::device}},
        Field{"device_bytes", OrNull{&PlanDevice::device_bytes}, "Of the device that it ran on."},
        Field{"base_bytes", When{&PlanDevice::base_known, &PlanDevice::base},
              "What contexts, code and other processes take of each card; null: the driver was not "
              "asked."},
        Field{"requests", &PlanDevice::requests, "How many actions were replayed."},
        Field{"live_peak_bytes", &PlanDevice::live_peak,
              "What was asked for and not given back, at most."},
        Field{"live_peak_ns", &PlanDevice::live_peak_ns,
              "When that was first so, since the log was opened."},
        Field{"beside_peak_bytes", &PlanDevice::beside_peak,
              "What the program took past its allocator, at most: no policy changes it."},
        Field{"recorded_reserved_bytes", &PlanDevice::recorded_reserved,
              "What the program and its allocators had of the device, at most, by the log."},
        Field{"policies", &PlanDevice::policies, "The first is the one that is judged."}
            .not_empty(),
        Field{
            "holders", &PlanDevice::holders,
            "Who had what was live at the peak, by call stack and NVTX range, the largest first."},
        Field{"more_holders", &PlanDevice::more_holders, "How many are left out."},
        Field{"more_holder_bytes", &PlanDevice::more_bytes},
        Field{"savings", &PlanDevice::savings,
              "Changes to the program, each replayed under the first policy, the largest saving "
              "first."},
        Field{"sharing", &PlanDevice::sharing,
              "Pairs of call stacks that could have one buffer, each replayed with it under the "
              "first policy, the largest saving first."}
            .since(1),
        Field{
            "packing", &PlanDevice::packing,
            "What the best addresses could reach if all lives were known before; null: there were "
            "too many blocks."},
        Field{"recorded_failure", &PlanDevice::recorded_failure,
              "A request failed in the recorded run: how the first policy fares on that device; "
              "null: none failed, or the device's size is not known."},
        Field{"pinned_at_peak", &PlanDevice::pins_at_peak,
              "Under the first policy, when most is reserved: who keeps segments with free memory "
              "from going back, the largest first."},
        Field{"pinned_at_end", &PlanDevice::pins_at_end},
        Field{"unknown", &PlanDevice::unknown, "What the log does not tell, in whole sentences."}
            .lines(),
    };
};

} // namespace vramscope::report
