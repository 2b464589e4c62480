// report/model/comparison.hpp — two reports of one program side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/check.hpp"
#include "report/model/growth.hpp"

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

struct ComparedNumber {
    std::string name; // as in the JSON: "peak_bytes"
    CheckUnit unit = CheckUnit::bytes;
    std::uint64_t base = 0;
    std::uint64_t now = 0;
    bool regressed = false; // more than the tolerance allows
    std::string kind;       // of the findings that it counts, as ComparedFinding::kind
};
template <>
struct Fields<ComparedNumber> {
    static constexpr const char* kName = "number";
    static constexpr FieldList kAll{
        Field{"name", &ComparedNumber::name},
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
