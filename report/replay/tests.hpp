// report/replay/tests.hpp — the tests of a program: what each allocated, and what of that is left.
//
// A block is of the test that ran when it was allocated, whichever thread did that. A watch of
// HeapReplay; feed it every record but the hot ones behind DeviceMemory, and finish() it. Memory
// grows with the tests that are kept, and with places of theirs that have live blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/model/tests.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/memory.hpp"

namespace vramscope::report {

// What one place of a test has that was never freed.
struct TestHolding {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

struct LoggedTest {
    std::string name;
    TestState state = TestState::began; // it did not end
    std::uint64_t begin_ticks = 0;
    std::uint64_t end_ticks = UINT64_MAX;
    std::uint64_t allocations = 0;
    std::vector<TestPeak> peaks;            // of each device that is known at its end
    TestHolding live;                       // of what it allocated
    TestHolding held;                       // the same, when it ended
    std::map<SiteId, TestHolding> holdings; // the same, by place; none is empty
};

class Tests final : public BlockWatch {
public:
    static constexpr std::size_t kMostTests = 100'000;

    explicit Tests(DeviceMemory& memory) : memory_(memory) {} // it outlives this

    void apply(const Record& record);
    void finish(std::uint64_t ticks); // the log ends

    const std::vector<LoggedTest>& kept() const noexcept { return tests_; } // in order of time
    std::uint64_t count() const noexcept { return count_; }

    void born(const Block& block) override
    {
        if (!tests_.empty())
            enter(block);
    }
    void freed(const Block& block, std::uint64_t) override
    {
        if (!tests_.empty())
            leave(block);
    }
    void gone(const Block& block, std::uint64_t ticks) override { freed(block, ticks); }
    // Nobody freed them: they are left.
    void context_gone(std::span<const SiteLoss>, std::uint64_t) override {}

    auto state() noexcept { return std::tie(tests_, open_, count_); } // see report/checkpoint
    bool rebuild();

private:
    void begin(std::string_view name, std::uint64_t ticks);
    void end(TestState state, std::uint64_t ticks);
    LoggedTest* test_of(const Block& block);
    void enter(const Block& block);
    void leave(const Block& block);

    DeviceMemory& memory_;
    std::vector<LoggedTest> tests_;
    std::optional<std::string> open_; // the name of the last one, as long as it has not ended
    std::uint64_t count_ = 0;
};

} // namespace vramscope::report
