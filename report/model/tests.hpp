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

struct TestLeak : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1;
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

} // namespace vramscope::report
