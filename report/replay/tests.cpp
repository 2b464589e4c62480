// report/replay/tests.cpp — blocks are found again by the time of their birth.
#include "report/replay/tests.hpp"

#include <algorithm>

namespace vramscope::report {

void Tests::apply(const Record& record)
{
    const auto test = record.as<format::Test>();
    if (!test)
        return;
    if (test->state == TestState::began)
        begin(test->name, record.ticks);
    else if (open_ && *open_ == test->name)
        end(test->state, record.ticks);
}

void Tests::begin(std::string_view name, std::uint64_t ticks)
{
    if (open_)
        end(TestState::began, ticks);
    ++count_;
    if (tests_.size() == kMostTests)
        return;
    LoggedTest& test = tests_.emplace_back();
    test.name = open_.emplace(name);
    test.begin_ticks = ticks;
    for (const DeviceMemory::Device& device : memory_.devices())
        test.peaks.push_back({device.ordinal, DeviceMemory::now(device).allocated, 0});
    memory_.restart_recent_peaks();
}

void Tests::end(TestState state, std::uint64_t ticks)
{
    LoggedTest& test = tests_.back();
    test.state = state;
    test.end_ticks = ticks;
    test.held = test.live;
    for (const DeviceMemory::Device& device : memory_.devices()) {
        if (device.index == test.peaks.size()) // it had nothing when the test began
            test.peaks.push_back({device.ordinal, 0, 0});
        test.peaks[device.index].bytes = device.recent_peak;
    }
    open_.reset();
}

void Tests::finish(std::uint64_t ticks)
{
    if (open_)
        end(TestState::began, ticks);
}

LoggedTest* Tests::test_of(const Block& block)
{
    const auto after = std::upper_bound(
        tests_.begin(), tests_.end(), block.ticks,
        [](std::uint64_t ticks, const LoggedTest& test) { return ticks < test.begin_ticks; });
    if (after == tests_.begin() || block.ticks > std::prev(after)->end_ticks)
        return nullptr;
    return &*std::prev(after);
}

void Tests::enter(const Block& block)
{
    LoggedTest* const test = is_own_memory(block.memory) ? test_of(block) : nullptr;
    if (!test)
        return;
    ++test->allocations;
    for (TestHolding* const sum : {&test->live, &test->holdings[block.site]}) {
        sum->bytes += block.bytes;
        ++sum->blocks;
    }
}

void Tests::leave(const Block& block)
{
    LoggedTest* const test = is_own_memory(block.memory) ? test_of(block) : nullptr;
    const auto place =
        test ? test->holdings.find(block.site) : decltype(test->holdings)::iterator();
    if (!test || place == test->holdings.end())
        return;
    for (TestHolding* const sum : {&test->live, &place->second}) {
        sum->bytes -= std::min(sum->bytes, block.bytes);
        --sum->blocks;
    }
    if (place->second.blocks == 0)
        test->holdings.erase(place);
}

bool Tests::rebuild()
{
    return tests_.size() <= kMostTests && (!open_ || !tests_.empty());
}

} // namespace vramscope::report
