// tests/tracker/log/driver_times_test.cpp — all calls are counted, and long ones all timed.
//
// Short calls stand for each other.
#include "tracker/log/driver_times.hpp"

#include <gtest/gtest.h>

#include "tests/support/recorded_log.hpp"

using namespace vramscope;
using log::DriverTimes;

namespace {

constexpr std::uint64_t kShort = DriverTimes::kShortTicks / 2;
constexpr std::uint64_t kLong = DriverTimes::kShortTicks * 100;

// A thread that writes into a buffer.
class DriverTimesTest : public testing::Test {
protected:
    DriverTimesTest()
    {
        thread_.chunk = &chunk_.header;
        thread_.at = chunk_.payload;
        thread_.end = chunk_.payload + sizeof chunk_.payload;
    }
    ~DriverTimesTest() override { log::forget_driver_times(thread_); }

    // One call of `api` as a hook makes it; whether it was timed.
    bool call(std::uint64_t api, std::uint64_t took)
    {
        const bool timed = log::times_driver_call(thread_, api);
        if (timed)
            log::add_driver_time(thread_, api, now_, now_ + took);
        now_ += took;
        return timed;
    }
    std::vector<test::DecodedRecord> written()
    {
        return test::decode_payload({chunk_.payload, chunk_.header.committed}, 0);
    }

    struct {
        format::ChunkHeader header{};
        std::uint8_t payload[4000]{};
    } chunk_;
    log::Thread thread_{};
    std::uint64_t now_ = 1000;
};

} // namespace

TEST_F(DriverTimesTest, LongCallsAreAllTimed)
{
    for (std::uint64_t i = 1; i <= 10; ++i)
        EXPECT_TRUE(call(3, i * kLong));
    log::write_driver_times(thread_, now_, true);
    const auto records = written();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].tag(), format::Tag::driver_time);
    EXPECT_EQ(records[0].number("ticks"), now_);
    EXPECT_EQ(records[0].number("api"), 3u);
    EXPECT_EQ(records[0].number("calls"), 10u);
    EXPECT_EQ(records[0].number("total"), 55 * kLong);
    EXPECT_EQ(records[0].number("longest"), 10 * kLong);
}

TEST_F(DriverTimesTest, AFewShortCallsStandForAll)
{
    unsigned timed = 0;
    for (int i = 0; i < 1000; ++i)
        timed += call(3, kShort);
    EXPECT_GT(timed, 1000u / 64);
    EXPECT_LT(timed, 1000u / 16);
    log::write_driver_times(thread_, now_, true);
    const auto records = written();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].number("calls"), 1000u) << "all are counted";
    EXPECT_LE(records[0].number("total"), 1000 * kShort);
    EXPECT_GT(records[0].number("total"), 950 * kShort);
}

TEST_F(DriverTimesTest, AShortCallThatIsLongOnceIsTimedFromThenOn)
{
    while (call(3, kShort)) {
    }
    while (!call(3, kLong)) {
    }
    EXPECT_TRUE(call(3, kLong));
}

TEST_F(DriverTimesTest, RowsAreWrittenOnceEnoughCameTogether)
{
    for (std::uint64_t i = 1; i < DriverTimes::kTimedCalls; ++i)
        call(i % 2 ? 7 : 9, kLong);
    const std::uint64_t soon = thread_.driver_times->written_ticks;
    log::settle_driver_times(thread_, soon);
    EXPECT_EQ(written().size(), 0u);
    call(7, kLong);
    log::settle_driver_times(thread_, soon);
    ASSERT_EQ(written().size(), 2u);
    EXPECT_EQ(written()[0].number("calls") + written()[1].number("calls"),
              DriverTimes::kTimedCalls);
    call(9, kLong);
    log::settle_driver_times(thread_, soon + DriverTimes::kMostTicks);
    ASSERT_EQ(written().size(), 3u) << "or once it was long ago";
    EXPECT_EQ(written()[2].number("calls"), 1u) << "what was written is not told again";
}

TEST_F(DriverTimesTest, AnEntryPointBeyondTheRowsIsLeftOut)
{
    EXPECT_TRUE(call(DriverTimes::kRows, kLong));
    EXPECT_TRUE(call(UINT64_MAX, kLong));
    log::write_driver_times(thread_, now_, true);
    EXPECT_EQ(written().size(), 0u);
}
