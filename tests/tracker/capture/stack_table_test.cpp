// tests/tracker/capture/stack_table_test.cpp — one id per stack, from whichever thread.
#include "tracker/capture/stack_table.hpp"

#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::capture;

namespace {

using Frames = std::vector<std::uintptr_t>;

std::uint64_t hash_of(const Frames& frames, std::uint64_t epoch = 0)
{
    return hash_frames(frames.data(), frames.size(), epoch);
}

class StackTableTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(table_->open()); }
    void TearDown() override { table_->reset_after_fork(); }

    std::uint32_t find(std::uint64_t hash, const Frames& frames)
    {
        return table_->find(hash, frames.data(), frames.size());
    }
    std::uint32_t publish(std::uint64_t hash, const Frames& frames, std::uint32_t id)
    {
        return table_->publish(hash, frames.data(), frames.size(), id);
    }
    // Does what the recorder does.
    std::uint32_t intern(const Frames& frames)
    {
        const std::uint64_t hash = hash_of(frames);
        const std::uint32_t known = find(hash, frames);
        return known ? known : publish(hash, frames, table_->new_id());
    }

    std::unique_ptr<StackTable> table_ = std::make_unique<StackTable>();
};

std::vector<Frames> random_stacks(std::size_t count, unsigned seed)
{
    std::mt19937_64 random(seed);
    std::vector<Frames> stacks(count);
    for (Frames& frames : stacks) {
        frames.resize(1 + random() % 60);
        for (std::uintptr_t& frame : frames)
            frame = random();
    }
    return stacks;
}

} // namespace

TEST_F(StackTableTest, KnowsNothingAtFirst)
{
    const Frames frames{1, 2, 3};
    EXPECT_EQ(find(hash_of(frames), frames), 0u);
}

TEST_F(StackTableTest, GivesEachStackItsOwnId)
{
    const auto stacks = random_stacks(5000, 1);
    std::set<std::uint32_t> ids;
    for (const Frames& frames : stacks)
        ids.insert(intern(frames));
    EXPECT_EQ(ids.size(), stacks.size());
    EXPECT_FALSE(ids.contains(0));
    for (const Frames& frames : stacks)
        EXPECT_TRUE(ids.contains(find(hash_of(frames), frames)));
}

TEST_F(StackTableTest, TellsStacksOfOneHashApart)
{
    const Frames stacks[] = {{1, 2, 3}, {1, 2, 4}, {1, 2}, {1, 2, 3, 4}, {3, 2, 1}};
    constexpr std::uint64_t kHash =
        0xffff'ffff'ffff'ffff; // the last slot: the search goes on at the first
    std::uint32_t id = 0;
    for (const Frames& frames : stacks) {
        EXPECT_EQ(find(kHash, frames), 0u);
        EXPECT_EQ(publish(kHash, frames, ++id), id);
    }
    id = 0;
    for (const Frames& frames : stacks)
        EXPECT_EQ(find(kHash, frames), ++id);
}

TEST_F(StackTableTest, TheLaterOfTwoPublishersLearnsTheIdOfTheFirst)
{
    const Frames frames{1, 2, 3};
    const std::uint32_t first = table_->new_id();
    const std::uint32_t second = table_->new_id();
    EXPECT_NE(first, second);
    EXPECT_EQ(publish(hash_of(frames), frames, second), second);
    EXPECT_EQ(publish(hash_of(frames), frames, first), second);
    EXPECT_EQ(find(hash_of(frames), frames), second);
}

TEST_F(StackTableTest, TakesAStackOfAnotherEpochForAnotherStack)
{
    const Frames frames{1, 2, 3};
    publish(hash_of(frames, 0), frames, 1);
    EXPECT_EQ(find(hash_of(frames, 1), frames), 0u);
    publish(hash_of(frames, 1), frames, 2);
    EXPECT_EQ(find(hash_of(frames, 0), frames), 1u);
    EXPECT_EQ(find(hash_of(frames, 1), frames), 2u);
}

TEST_F(StackTableTest, ThreadsThatRaceAgreeOnEveryId)
{
    constexpr std::size_t kThreads = 8;
    const auto stacks = random_stacks(2000, 2);
    std::vector<std::vector<std::uint32_t>> seen(kThreads);
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            ready.fetch_add(1);
            while (ready.load() < kThreads) {
            }
            for (const Frames& frames : stacks)
                seen[t].push_back(intern(frames));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    for (const auto& ids : seen)
        EXPECT_EQ(ids, seen[0]);
    EXPECT_EQ(std::set<std::uint32_t>(seen[0].begin(), seen[0].end()).size(), stacks.size());
}

TEST_F(StackTableTest, WhenFullKnowsWhatItHasAndGivesNoMoreIds)
{
    Frames frames{0, 7};
    std::uint32_t last = 0;
    while (const std::uint32_t id = table_->new_id()) {
        frames[0] = id;
        ASSERT_EQ(publish(hash_of(frames), frames, id), id);
        last = id;
    }
    EXPECT_GE(last, 500'000u);
    EXPECT_EQ(table_->new_id(), 0u);
    EXPECT_EQ(find(hash_of(frames), frames), last);
    const Frames unknown{1, 2, 3, 4};
    EXPECT_EQ(find(hash_of(unknown), unknown), 0u);
}

TEST_F(StackTableTest, StartsAfreshAfterAFork)
{
    const Frames frames{1, 2, 3};
    EXPECT_EQ(intern(frames), 1u);
    table_->reset_after_fork();
    ASSERT_TRUE(table_->open());
    EXPECT_EQ(find(hash_of(frames), frames), 0u);
    EXPECT_EQ(table_->new_id(), 1u);
}
