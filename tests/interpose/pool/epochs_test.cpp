// tests/interpose/pool/epochs_test.cpp — what has passed, with none, one and several domains.
#include "interpose/pool/epochs.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using vramscope::pool::Epochs;

TEST(Epochs, NothingPassesWithoutADomain)
{
    Epochs epochs;
    const auto stamp = epochs.now();
    epochs.begin();
    EXPECT_FALSE(epochs.passed(stamp));
}

TEST(Epochs, AFreePassesWithASynchronisationThatBeganAfterIt)
{
    Epochs epochs;
    const int domain = epochs.add_domain();
    const auto t = epochs.begin();
    const auto stamp = epochs.now(); // freed while it was under way
    EXPECT_TRUE(epochs.ended(domain, t));
    EXPECT_FALSE(epochs.passed(stamp));
    EXPECT_TRUE(epochs.ended(domain, epochs.begin()));
    EXPECT_TRUE(epochs.passed(stamp));
    EXPECT_FALSE(epochs.passed(epochs.now()));
}

TEST(Epochs, EveryDomainHasToBeSynchronised)
{
    Epochs epochs;
    const int one = epochs.add_domain(), other = epochs.add_domain();
    const auto stamp = epochs.now();
    const auto t = epochs.begin();
    EXPECT_FALSE(epochs.ended(one, t));
    EXPECT_FALSE(epochs.passed(stamp));
    EXPECT_TRUE(epochs.ended(other, t));
    EXPECT_TRUE(epochs.passed(stamp));
}

TEST(Epochs, WhatHasPassedStaysSoWhenADomainIsAddedAndTheRestWaitsForIt)
{
    Epochs epochs;
    const int one = epochs.add_domain();
    const auto before = epochs.now();
    epochs.ended(one, epochs.begin());
    const auto pending = epochs.now();
    const int later = epochs.add_domain();
    EXPECT_TRUE(epochs.passed(before));
    EXPECT_FALSE(epochs.ended(one, epochs.begin()));
    EXPECT_FALSE(epochs.passed(pending));
    EXPECT_TRUE(epochs.ended(later, epochs.begin()));
    EXPECT_TRUE(epochs.passed(pending));
}

TEST(Epochs, ADomainThatIsRemovedIsNotWaitedFor)
{
    Epochs epochs;
    const int one = epochs.add_domain(), other = epochs.add_domain();
    const auto stamp = epochs.now();
    epochs.ended(one, epochs.begin());
    EXPECT_FALSE(epochs.passed(stamp));
    epochs.remove_domain(other);
    EXPECT_TRUE(epochs.passed(stamp));
}

TEST(Epochs, ALateEndDoesNotCountForTheSlotsNextDomain)
{
    Epochs epochs;
    const int gone = epochs.add_domain();
    const auto t = epochs.begin();
    epochs.remove_domain(gone);
    const int next = epochs.add_domain();
    EXPECT_NE(gone, next);
    const auto stamp = epochs.now();
    EXPECT_FALSE(epochs.ended(gone, t));
    EXPECT_FALSE(epochs.ended(gone, epochs.begin()));
    EXPECT_FALSE(epochs.passed(stamp));
    epochs.remove_domain(gone); // again: not the next one's
    EXPECT_TRUE(epochs.ended(next, epochs.begin()));
}

TEST(Epochs, AnEarlierSynchronisationThatEndsLaterTakesNothingBack)
{
    Epochs epochs;
    const int domain = epochs.add_domain();
    const auto early = epochs.begin();
    const auto stamp = epochs.now();
    const auto late = epochs.begin();
    EXPECT_TRUE(epochs.ended(domain, late));
    EXPECT_FALSE(epochs.ended(domain, early));
    EXPECT_TRUE(epochs.passed(stamp));
}

TEST(Epochs, WithMoreDomainsThanItCanWatchNothingPassesAnyMore)
{
    Epochs epochs;
    std::vector<int> domains;
    for (int count = 0; count < Epochs::kMostDomains; ++count)
        domains.push_back(epochs.add_domain());
    EXPECT_GE(domains.back(), 0);
    EXPECT_EQ(epochs.add_domain(), -1);
    const auto stamp = epochs.now();
    const auto t = epochs.begin();
    for (const int domain : domains)
        EXPECT_FALSE(epochs.ended(domain, t));
    EXPECT_FALSE(epochs.passed(stamp));
}

TEST(Epochs, OnlyAFreeLetsASynchronisationHaveSomethingToDo)
{
    Epochs epochs;
    const int one = epochs.add_domain();
    EXPECT_FALSE(epochs.any_pending());
    const auto stamp = epochs.stamp_free();
    EXPECT_TRUE(epochs.any_pending());
    EXPECT_TRUE(epochs.ended(one, epochs.begin()));
    EXPECT_TRUE(epochs.passed(stamp));
    EXPECT_FALSE(epochs.any_pending());
    epochs.add_domain(); // nothing is pending that it could use
    EXPECT_FALSE(epochs.any_pending());
}

TEST(Epochs, AFreeDuringASynchronisationLeavesTheNextSomethingToDo)
{
    Epochs epochs;
    const int domain = epochs.add_domain();
    epochs.stamp_free();
    const auto t = epochs.begin();
    const auto stamp = epochs.stamp_free();
    EXPECT_TRUE(epochs.ended(domain, t));
    EXPECT_TRUE(epochs.any_pending());
    EXPECT_TRUE(epochs.ended(domain, epochs.begin()));
    EXPECT_TRUE(epochs.passed(stamp));
    EXPECT_FALSE(epochs.any_pending());
}

TEST(Epochs, WhatIsFreedStaysPendingUntilEveryDomainWasSynchronised)
{
    Epochs epochs;
    const int one = epochs.add_domain(), other = epochs.add_domain();
    epochs.stamp_free();
    epochs.ended(one, epochs.begin());
    EXPECT_TRUE(epochs.any_pending());
    epochs.ended(other, epochs.begin());
    EXPECT_FALSE(epochs.any_pending());
}

TEST(Epochs, ALaterSynchronisationOfAnotherThreadKeepsNoneFromItsAnswer)
{
    Epochs epochs;
    const int domain = epochs.add_domain();
    std::atomic<int> kept{0};
    const auto synchronise = [&] {
        for (int i = 0; i < 20'000; ++i) {
            const auto stamp = epochs.stamp_free();
            epochs.ended(domain, epochs.begin());
            kept += !epochs.passed(stamp);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(synchronise);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(kept, 0);
}
