// tests/report/replay/address_past_test.cpp — against a list of what covers each address.
#include "report/replay/address_past.hpp"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

constexpr std::uint64_t kFirst = 1000;
constexpr std::uint64_t kAddresses = 64;

// Each address by itself: what covers it last.
class Cells {
public:
    void begin(std::uint64_t address, std::uint64_t end, std::uint64_t stack)
    {
        for (std::uint64_t at = address; at < end; ++at)
            cells_[at - kFirst] = {.first = address, .stack = stack, .ended = 0};
    }
    void finish(std::uint64_t stack, std::uint64_t ticks)
    {
        for (Cell& cell : cells_)
            if (cell.stack == stack)
                cell.ended = ticks;
    }
    // A piece that begins behind the block's own first address has this one.
    std::uint64_t first_of_piece(std::uint64_t address) const
    {
        while (address > kFirst && of(address - 1).stack == of(address).stack)
            --address;
        return address;
    }

    struct Cell {
        std::uint64_t first = 0;
        std::uint64_t stack = 0; // 0: nothing
        std::uint64_t ended = 0;
    };
    const Cell& of(std::uint64_t address) const { return cells_[address - kFirst]; }

private:
    std::array<Cell, kAddresses> cells_{};
};

class AddressPastOfEachSeed : public testing::TestWithParam<unsigned> {
protected:
    std::uint64_t below(std::uint64_t end)
    {
        return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
    }
    void begin()
    {
        const std::uint64_t address = kFirst + below(kAddresses);
        const std::uint64_t end = address + 1 + below(kFirst + kAddresses - address);
        BlockLife life;
        life.allocation.stack = ++time_;
        past_.begin(address, end, life, everything_);
        cells_.begin(address, end, time_);
    }
    void finish()
    {
        const std::uint64_t first = cells_.first_of_piece(kFirst + below(kAddresses));
        const Cells::Cell cell = cells_.of(first);
        BlockLife* const life = past_.alive_at(first);
        ASSERT_EQ(life != nullptr, cell.stack != 0 && cell.ended == 0);
        // A block in pieces ends as one: here that is a block with a single piece.
        if (life && pieces_of(cell.stack) == 1) {
            past_.finish(*life, {.api = 0, .stack = 0, .ticks = ++time_});
            cells_.finish(cell.stack, time_);
        }
    }
    int pieces_of(std::uint64_t stack) const
    {
        int pieces = 0;
        for (std::uint64_t at = kFirst; at < kFirst + kAddresses; ++at)
            pieces += cells_.of(at).stack == stack && cells_.first_of_piece(at) == at;
        return pieces;
    }
    void expect_the_same()
    {
        for (std::uint64_t at = kFirst; at < kFirst + kAddresses; ++at) {
            const Cells::Cell& cell = cells_.of(at);
            const BlockLife* const life = past_.at(at);
            ASSERT_EQ(life ? life->allocation.stack : 0, cell.stack) << at;
            ASSERT_EQ(life ? life->start : 0, cell.first) << at;
            ASSERT_EQ(life ? life->ended.ticks : 0, cell.ended) << at;
            const bool begins = cell.stack != 0 && cells_.first_of_piece(at) == at;
            ASSERT_EQ(past_.alive_at(at), begins && cell.ended == 0 ? life : nullptr) << at;
        }
        AddressPast read_again;
        read_again.state() = past_.state();
        ASSERT_TRUE(read_again.rebuild());
    }

    const FollowedAddresses everything_;
    AddressPast past_;
    Cells cells_;
    std::mt19937 random_{GetParam()};
    std::uint64_t time_ = 0;
};

TEST_P(AddressPastOfEachSeed, KnowsWhatCoversEachAddress)
{
    for (int step = 0; step < 300; ++step) {
        if (below(2) == 0)
            begin();
        else
            finish();
        ASSERT_NO_FATAL_FAILURE(expect_the_same());
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AddressPastOfEachSeed, testing::Range(0u, 20u));

TEST(AddressPast, ForgetsWhatEndedFirst)
{
    AddressPast past;
    constexpr std::uint64_t kBlocks = 2 * AddressPast::kMostEnded;
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
        EXPECT_FALSE(past.has_many_ended());
        past.begin(block, block + 1, {}, {});
        past.finish(*past.alive_at(block), {.api = 0, .stack = 0, .ticks = block + 1});
    }
    ASSERT_TRUE(past.has_many_ended());
    past.forget_oldest();
    EXPECT_EQ(past.at(0), nullptr);
    EXPECT_EQ(past.at(AddressPast::kMostEnded - 1), nullptr);
    EXPECT_NE(past.at(AddressPast::kMostEnded), nullptr);
    EXPECT_NE(past.at(kBlocks - 1), nullptr);
    past.begin(0, 1, {}, {}); // where something was forgotten
    EXPECT_NE(past.alive_at(0), nullptr);
}

TEST(AddressPast, IsNotChangedByItsCopy)
{
    AddressPast past;
    past.begin(10, 20, {}, {});
    AddressPast copy = past;
    copy.finish(*copy.alive_at(10), {.api = 0, .stack = 0, .ticks = 1});
    EXPECT_NE(past.alive_at(10), nullptr);
    EXPECT_EQ(copy.alive_at(10), nullptr);
}

TEST(AddressPast, ThatOverlapsMakesNoSense)
{
    for (const std::uint64_t second : {20u, 19u}) {
        AddressPast read;
        auto [lives, ended] = read.state();
        lives[10].start = 10;
        lives[10].end = 20;
        lives[second].start = second;
        lives[second].end = 30;
        EXPECT_EQ(read.rebuild(), second == 20) << second;
    }
}

TEST(FollowedAddresses, AreAllUnlessTheyAreNamed)
{
    const FollowedAddresses all;
    EXPECT_TRUE(all.has(5));
    EXPECT_TRUE(all.any_of(5, 6));
    const FollowedAddresses some({5, UINT64_MAX});
    EXPECT_TRUE(some.has(5));
    EXPECT_TRUE(some.has(UINT64_MAX));
    EXPECT_FALSE(some.has(6));
    EXPECT_TRUE(some.any_of(1, 6));
    EXPECT_FALSE(some.any_of(1, 5));
    EXPECT_FALSE(some.any_of(6, 100));
}

} // namespace
} // namespace vramscope::report
