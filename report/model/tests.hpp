// report/model/tests.hpp — what each test of a program did to its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "tracker/format/enumerations.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::report {

using format::TestState;

// Allocated memory of one device.
struct TestPeak {
    std::int32_t device = -1; // -1: not known
    std::uint64_t at_begin = 0;
    std::uint64_t bytes = 0; // the most during the test, with what was there before
};
template <>
struct Fields<TestPeak> {
    static constexpr const char* kName = "test_peak";
    static constexpr FieldList kAll{
        Field{"device", Ordinal{&TestPeak::device}},
        Field{"allocated_at_begin", &TestPeak::at_begin},
        Field{"peak_allocated", &TestPeak::bytes,
              "The most while it ran, with what was there before."},
    };
};

struct TestLeak : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1;
};
template <>
struct Fields<TestLeak> {
    static constexpr const char* kName = "test_leak";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"bytes", &TestLeak::bytes},
            Field{"blocks", &TestLeak::blocks},
            Field{"memory", &TestLeak::memory},
            Field{"device", Ordinal{&TestLeak::device}},
            Field{"api", &CallPlace::api},
            kFingerprint,
        },
        kStack);
};

struct TestRow {
    std::string name;
    TestState state = TestState::began; // as long as nobody said that it ended
    std::uint64_t begin_ns = 0;         // since the log was opened
    std::uint64_t end_ns = 0;
    std::uint64_t allocations = 0;
    std::vector<TestPeak> peaks;
    // Of what it allocated: what it had when it ended, and what of that nobody had freed when the
    // log ended. Known leaks are in the first alone.
    std::uint64_t held_bytes = 0;
    std::uint64_t held_blocks = 0;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
    std::uint64_t suppressed_bytes = 0;
    std::uint64_t suppressed_blocks = 0;
    std::vector<TestLeak> leaks; // the largest

    bool ended() const noexcept { return state != TestState::began; }
};

inline constexpr std::size_t kMostTestLeaks = 8; // of a test

// On the device where it is highest.
std::uint64_t test_peak(const TestRow& test);
// How much more than at the test's beginning, on the device where that is most.
std::uint64_t test_growth(const TestRow& test);
// What it held when it ended, and was freed later.
std::uint64_t freed_later(const TestRow& test);

template <>
struct Fields<TestRow> {
    static constexpr const char* kName = "test";
    static constexpr const char* kSays =
        "What was allocated while it ran, by any thread, is the test's.";
    static constexpr FieldList kAll{
        Field{"name", &TestRow::name},
        Field{"result", When{&TestRow::ended, &TestRow::state},
              "ended: nobody said how. null: it did not end, as where the program crashed in it."}
            .never("began"),
        Field{"begin_ns", &TestRow::begin_ns, "Since the log was opened."},
        Field{"end_ns", &TestRow::end_ns},
        Field{"allocations", &TestRow::allocations},
        Field{"peaks", &TestRow::peaks, "Of each device that was known when it ended."},
        Field{"held_bytes", &TestRow::held_bytes,
              "Of what it allocated, what it had when it ended."},
        Field{"held_blocks", &TestRow::held_blocks},
        Field{"freed_later_bytes", &freed_later,
              "The part of held_bytes that was freed before the log ended: caches, and what is "
              "kept for further tests."},
        Field{"leaked_bytes", &TestRow::leaked_bytes,
              "The part of held_bytes that was never freed."},
        Field{"leaked_blocks", &TestRow::leaked_blocks},
        Field{"suppressed_bytes", &TestRow::suppressed_bytes,
              "Never freed, and known: not in leaked_bytes."},
        Field{"suppressed_blocks", &TestRow::suppressed_blocks},
        Field{"leaks", &TestRow::leaks, "The largest, a row for each call stack."}.rows_at_most(
            kMostTestLeaks),
        Field{"peak_bytes", PageOnly{&test_peak}},
        Field{"growth_bytes", PageOnly{&test_growth}},
    };
};

} // namespace vramscope::report
