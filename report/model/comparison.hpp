// report/model/comparison.hpp — two reports of one program side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/check.hpp"
#include "report/model/growth.hpp"
#include "report/model/reach.hpp"

namespace vramscope::report {

enum class Change { added, grown, same, shrunk, gone };
template <>
struct Words<Change> {
    static constexpr format::Word<Change> kAll[] = {{Change::added, "new"},
                                                    {Change::grown, "grown"},
                                                    {Change::same, "same"},
                                                    {Change::shrunk, "shrunk"},
                                                    {Change::gone, "gone"}};
};

// One call stack's bytes and blocks, before and after.
struct ComparedPlace {
    const CallPlace* place = nullptr; // in the newer report, if it is in both
    Change change = Change::same;
    std::uint64_t base_bytes = 0;
    std::uint64_t base_count = 0; // blocks in the first report
    std::uint64_t new_bytes = 0;
    std::uint64_t new_count = 0;
};
template <>
struct Fields<ComparedPlace> {
    static constexpr const char* kName = "place";
    static constexpr const char* kSays =
        "The stack is as it is in the newer run; of what is gone, as in the older.";
    static constexpr auto place = &ComparedPlace::place;
    static constexpr auto kAll =
        joined(FieldList{Field{"change", &ComparedPlace::change}.never("same")},
               through(place, FieldList{kFingerprint, Field{"api", &CallPlace::api},
                                        Field{"entry_point", &CallPlace::entry_point}}),
               FieldList{Field{"base", Group{Field{"bytes", &ComparedPlace::base_bytes},
                                             Field{"blocks", &ComparedPlace::base_count}}},
                         Field{"new", Group{Field{"bytes", &ComparedPlace::new_bytes},
                                            Field{"blocks", &ComparedPlace::new_count}}}},
               through(place, kStackFrames));
};

// A call stack's rows of one kind of finding but leaks, before and after. Its bytes and its count
// are those of the findings: of wrong frees, the calls.
struct ComparedFinding : ComparedPlace {
    std::string kind; // the word of its kind, see judge/finding_kinds.hpp
    // Of what grows, the highest rate of any process; null: it does not grow.
    const GrowthRate* base_rate = nullptr;
    const GrowthRate* new_rate = nullptr;
    bool proven = true; // in the newer report, whatever else its log does not tell
};
template <>
struct Fields<ComparedFinding> {
    static constexpr const char* kName = "compared_finding";
    static constexpr auto place = &ComparedPlace::place;
    static constexpr auto kAll =
        joined(FieldList{Field{"kind", &ComparedFinding::kind},
                         Field{"change", &ComparedPlace::change}.never("same")},
               through(place, FieldList{kFingerprint, Field{"api", &CallPlace::api},
                                        Field{"entry_point", &CallPlace::entry_point}}),
               FieldList{Field{"base", Group{Field{"bytes", &ComparedPlace::base_bytes},
                                             Field{"count", &ComparedPlace::base_count},
                                             Field{"rate", &ComparedFinding::base_rate}}},
                         Field{"new", Group{Field{"bytes", &ComparedPlace::new_bytes},
                                            Field{"count", &ComparedPlace::new_count},
                                            Field{"rate", &ComparedFinding::new_rate}}}},
               through(place, kStackFrames));
};

// What a search of the memory found of a call stack's leaks, in one run.
struct ReachSide {
    ReachSum lost, possibly, held;
    std::string how; // of the lost ones, else of the held ones: as ReachGroup::how()
};
template <>
struct Fields<ReachSide> {
    static constexpr const char* kName = "reach_side";
    static constexpr FieldList kAll{
        Field{"lost", &ReachSide::lost},
        Field{"possibly", &ReachSide::possibly},
        Field{"held", &ReachSide::held},
        Field{"how", OrNull{&ReachSide::how},
              "Of the most of those that are lost, else of those that are held: what holds them."},
    };
};

enum class ReachChange { now_lost, now_held };
template <>
struct Words<ReachChange> {
    static constexpr format::Word<ReachChange> kAll[] = {{ReachChange::now_lost, "held-to-lost"},
                                                         {ReachChange::now_held, "lost-to-held"}};
};

// A call stack whose leaks were held in one run, and are lost in the other.
struct ComparedReach {
    const CallPlace* place = nullptr; // in the newer report
    ReachChange change = ReachChange::now_lost;
    ReachSide base;
    ReachSide now;
};
template <>
struct Fields<ComparedReach> {
    static constexpr const char* kName = "compared_reach";
    static constexpr auto place = &ComparedReach::place;
    static constexpr auto kAll =
        joined(FieldList{Field{"change", &ComparedReach::change,
                               "held-to-lost: none was lost in base, and some are now. "
                               "lost-to-held: the other way round."}},
               through(place, FieldList{kFingerprint, Field{"api", &CallPlace::api}}),
               FieldList{Field{"base", &ComparedReach::base}, Field{"new", &ComparedReach::now}},
               through(place, kStackFrames));
};

// A call stack's objects of one kind, or its contexts of one device, before and after.
struct ComparedObject {
    const CallPlace* place = nullptr; // in the newer report, if it is in both
    format::Memory object = format::Memory::none;
    std::int32_t device = -1; // of contexts; -1: of all devices
    Change change = Change::same;
    std::uint64_t base_made = 0;
    std::uint64_t base_alive = 0;
    std::uint64_t new_made = 0;
    std::uint64_t new_alive = 0;
};
template <>
struct Fields<ComparedObject> {
    static constexpr const char* kName = "compared_object";
    static constexpr auto place = &ComparedObject::place;
    static constexpr auto kAll =
        joined(FieldList{Field{"object", &ComparedObject::object,
                               "What it is: stream, event, module, context, …"},
                         Field{"device", Ordinal{&ComparedObject::device},
                               "Of contexts; null: not known, or of all devices."},
                         Field{"change", &ComparedObject::change,
                               "new, gone: made in one run alone. grown, shrunk: more or fewer "
                               "were left at the end."}
                             .never("same")},
               through(place, FieldList{kFingerprint, Field{"api", &CallPlace::api}}),
               FieldList{Field{"base", Group{Field{"made", &ComparedObject::base_made},
                                             Field{"alive", &ComparedObject::base_alive}}},
                         Field{"new", Group{Field{"made", &ComparedObject::new_made},
                                            Field{"alive", &ComparedObject::new_alive}}}},
               through(place, kStackFrames));
};

// What an owner had of one device, or of the host, before and after.
struct OwnerSide {
    std::uint64_t at_peak_bytes = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t allocations = 0;
};
template <>
struct Fields<OwnerSide> {
    static constexpr const char* kName = "owner_side";
    static constexpr FieldList kAll{
        Field{"at_peak_bytes", &OwnerSide::at_peak_bytes,
              "The most that a process had of it when the most was allocated on the device."},
        Field{"live_bytes", &OwnerSide::live_bytes, "At the end."},
        Field{"allocated_bytes", &OwnerSide::allocated_bytes, "Over the run."},
        Field{"allocations", &OwnerSide::allocations},
    };
};
struct ComparedOwner {
    std::string owner;
    std::int32_t device = -1; // -1: host memory, or not known
    OwnerSide base;
    OwnerSide now;
};
template <>
struct Fields<ComparedOwner> {
    static constexpr const char* kName = "compared_owner";
    static constexpr FieldList kAll{
        Field{"owner", &ComparedOwner::owner, "As --owners names it; other: what none has."}
            .not_empty(),
        Field{"device", Ordinal{&ComparedOwner::device}, "null: host memory, or not known."},
        Field{"base", &ComparedOwner::base},
        Field{"new", &ComparedOwner::now},
    };
};

struct ComparedNumber {
    std::string name; // as in the JSON: "peak_bytes"
    CheckUnit unit = CheckUnit::bytes;
    std::uint64_t base = 0;
    std::uint64_t now = 0;
    bool regressed = false;   // more than the tolerance allows
    std::int32_t device = -1; // that the number is of; -1: of none
    std::string kind;         // of the findings that it counts, as ComparedFinding::kind
};
template <>
struct Fields<ComparedNumber> {
    static constexpr const char* kName = "number";
    static constexpr FieldList kAll{
        Field{"name", &ComparedNumber::name},
        Field{"device", Ordinal{&ComparedNumber::device},
              "Of a peak that became higher on another device than the one with the highest; null: "
              "the highest of all devices, or of none."}
            .since(3),
        Field{"unit", &ComparedNumber::unit}.never("bytes/step", "bytes/call", "bytes/s",
                                                   "percent"),
        Field{"base", &ComparedNumber::base},
        Field{"new", &ComparedNumber::now},
        Field{
            "regressed", &ComparedNumber::regressed,
            "More than before, and than is allowed. Never of leaks: their call stacks say what is "
            "worse."},
    };
};

struct Comparison {
    enum class Verdict { same, better, worse, inconclusive, nothing_observed };

    Verdict verdict = Verdict::inconclusive;
    Exit exit = Exit::incomplete; // what --fail-on-regression ends with
    std::vector<ComparedNumber> numbers;
    std::vector<ComparedPlace> leaks; // the largest change for the worse first; no `same`
    std::uint64_t same_leaks = 0;
    // All else that was found, by kind; no `same`.
    std::vector<ComparedFinding> findings;
    // What had more or less at the peak, of the call stacks that both sides know. On each side, the
    // peak is that of the device where it was highest.
    std::vector<ComparedPlace> peak;
    // What allocated more often or less often, by all blocks of the run; also by call stack.
    std::vector<ComparedPlace> churn;
    // Of both runs' searches of the memory. This and what follows is told, and judges nothing.
    std::vector<ComparedReach> reach;
    std::vector<ComparedObject> objects;   // contexts too; what is new first, no `same`
    std::vector<std::string> not_compared; // what one side alone recorded, one line each
    std::vector<ComparedOwner> owners;
    std::vector<std::string> doubts; // one line each: "base: …", "new: …"
};
template <>
struct Words<Comparison::Verdict> {
    static constexpr format::Word<Comparison::Verdict> kAll[] = {
        {Comparison::Verdict::same, "same"},
        {Comparison::Verdict::better, "better"},
        {Comparison::Verdict::worse, "worse"},
        {Comparison::Verdict::inconclusive, "inconclusive"},
        {Comparison::Verdict::nothing_observed, "nothing-observed"},
    };
};

} // namespace vramscope::report
