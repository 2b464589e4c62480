// tests/interpose/pool/traffic_test.cpp — a thread is short of what others have on its way.
#include <atomic>
#include <thread>

#include "tests/interpose/pool/pool_fixture.hpp"

using namespace vramscope::pool;
using namespace vramscope::test;

namespace {

constexpr std::uint64_t kUnit = 40 * kMiB;

// Closed at first; once open, for good.
class Gate {
public:
    void open()
    {
        open_.store(true);
        open_.notify_one();
    }
    void wait() const { open_.wait(false); }

private:
    std::atomic<bool> open_{false};
};

template <class Policy>
struct BusyPool : PoolFixture<Policy> {
    BusyPool()
    {
        this->upstream.capacity = 3 * kUnit;
        this->upstream.on_traffic = [this] { return this->pool->traffic(); };
    }

    // What is freed is kept; no other size is served from it.
    void retire_one(std::uint64_t bytes) { this->retire(this->get(bytes)); }
};
using Policies = testing::Types<CachePolicy, SplitPolicy>;
TYPED_TEST_SUITE(BusyPool, Policies);

} // namespace

TYPED_TEST(BusyPool, WhatAnotherExchangesWhileRoomIsMadeIsNoReasonToRefuse)
{
    Address theirs = this->get(kUnit);
    this->retire_one(kUnit - 2 * kMiB);
    int exchanges = 0;
    this->upstream.on_make_room = [&] {
        if (exchanges++)
            return;
        this->pool->free(theirs); // this block stays, until what was queued is done
        theirs = this->pool->allocate(kUnit + kMiB).address;
    };
    EXPECT_EQ(this->pool->allocate(2 * kUnit - 2 * kMiB).status, 0);
    this->upstream.on_make_room = nullptr;
    EXPECT_EQ(this->stats().num_ooms, 0u);
    EXPECT_EQ(this->upstream.calls.pause, 1);
}

TYPED_TEST(BusyPool, WhatAnotherGivesBackIsWaitedFor)
{
    this->retire_one(2 * kUnit);
    Gate releasing, paused;
    this->upstream.on_release = [&] {
        releasing.open();
        paused.wait();
    };
    std::thread other([this] { this->pool->trim(Release::asked); });
    releasing.wait();
    this->upstream.on_pause = [&] {
        paused.open();
        other.join();
    };
    EXPECT_EQ(this->pool->allocate(3 * kUnit).status, 0);
    EXPECT_EQ(this->upstream.calls.pause, 1);
}

// Between the two looks nothing is on its way, and nothing is handed out.
TYPED_TEST(BusyPool, WhatAnotherGaveBackMeanwhileIsAskedForAgain)
{
    this->retire_one(2 * kUnit);
    Gate releasing, refused;
    this->upstream.on_release = [&] {
        releasing.open();
        refused.wait();
    };
    std::thread other;
    this->upstream.on_traffic = [&, reads = 0]() mutable {
        ++reads;
        if (reads == 2) {
            refused.open();
            other.join();
        }
        const Traffic seen = this->pool->traffic();
        if (reads == 1) {
            other = std::thread([this] { this->pool->trim(Release::asked); });
            releasing.wait();
        }
        return seen;
    };
    EXPECT_EQ(this->pool->allocate(3 * kUnit).status, 0);
    EXPECT_EQ(this->upstream.calls.pause, 1);
}

TYPED_TEST(BusyPool, WhatIsNeverThereIsRefusedAtOnceIfNobodyElseIsAtWork)
{
    this->get(kUnit);
    EXPECT_EQ(this->pool->allocate(3 * kUnit).status, CounterUpstream::kOutOfMemory);
    EXPECT_EQ(this->upstream.calls.pause, 0);
}

TYPED_TEST(BusyPool, WhereOthersNeverRestTriesEnd)
{
    Address theirs = this->get(kUnit);
    this->upstream.on_make_room = [&] {
        this->pool->free(theirs);
        theirs = this->pool->allocate(kUnit).address;
    };
    EXPECT_EQ(this->pool->allocate(3 * kUnit).status, CounterUpstream::kOutOfMemory);
    this->upstream.on_make_room = nullptr;
    EXPECT_EQ(this->upstream.calls.pause, kMostTries - 1);
    EXPECT_EQ(this->stats().num_ooms, 1u);
}

TYPED_TEST(BusyPool, WhatABoundRefusesWhileAnotherAsksIsAskedAgain)
{
    this->use({.allowed_bytes = 2 * kUnit});
    this->upstream.capacity = kUnit; // too little for the other, as it hears at last
    Gate asking, answered;
    this->upstream.on_allocate = [&](std::uint64_t bytes) {
        if (bytes < kUnit)
            return;
        asking.open();
        answered.wait();
    };
    std::thread other([this] { this->pool->allocate(2 * kUnit - 10 * kMiB, false); });
    asking.wait();
    this->upstream.on_traffic = [&, reads = 0]() mutable {
        if (++reads == 2) { // after the first try
            answered.open();
            other.join();
        }
        return this->pool->traffic();
    };
    EXPECT_EQ(this->pool->allocate(kUnit / 2).status, 0);
}
