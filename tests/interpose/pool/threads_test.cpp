// tests/interpose/pool/threads_test.cpp — threads use one pool at once.
//
// They allocate, free, synchronise, trim and look: no unit of memory has two owners, and none is
// handed out before its free has passed.
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "interpose/pool/cache_policy.hpp"
#include "interpose/pool/pool.hpp"
#include "interpose/pool/split_policy.hpp"
#include "tests/interpose/pool/cache_validate.hpp"
#include "tests/interpose/pool/split_validate.hpp"

using namespace vramscope::pool;

namespace {

constexpr std::uint64_t kUnit = 512, kUnits = 1 << 16, kFirst = 1 << 20;

// Each unit of memory: 0, or the stamp of its free times two, plus one while it has an owner.
using Memory = std::array<std::atomic<std::uint64_t>, kUnits>;

// Fixed room, taken and given back in order of need.
class Arena {
public:
    using Lock = std::mutex;
    static constexpr int kOutOfMemory = 2;

    explicit Arena(Epochs& epochs) : epochs_(epochs), domain_(epochs.add_domain()) {}

    int allocate(std::uint64_t bytes, Address& address)
    {
        const std::lock_guard guard(lock_);
        const std::uint64_t units = (bytes + kUnit - 1) / kUnit;
        std::uint64_t run = 0;
        for (std::uint64_t unit = 0; unit < kUnits; ++unit) {
            run = taken_[unit] ? 0 : run + 1;
            if (run < units)
                continue;
            address = kFirst + (unit + 1 - units) * kUnit;
            set(address, units, static_cast<std::uint32_t>(units));
            return 0;
        }
        return kOutOfMemory;
    }
    int release(Address address, Release)
    {
        const std::lock_guard guard(lock_);
        const std::uint32_t units = taken_[(address - kFirst) / kUnit];
        for (std::uint64_t unit = 0; unit < units; ++unit) // upstream waits for what uses it
            memory[(address - kFirst) / kUnit + unit].store(0);
        set(address, units, 0);
        return 0;
    }
    int synchronise()
    {
        epochs_.ended(domain_, epochs_.begin());
        return 0;
    }
    void make_room() {}
    Traffic traffic() { return {}; }
    void pause(int) {}

    Memory memory{};

private:
    void set(Address address, std::uint64_t units, std::uint32_t value)
    {
        for (std::uint64_t unit = 0; unit < units; ++unit)
            taken_[(address - kFirst) / kUnit + unit] = value;
    }

    Epochs& epochs_;
    int domain_;
    std::mutex lock_;
    std::array<std::uint32_t, kUnits> taken_{};
};

template <class Policy>
struct PoolThreads : testing::Test {
    struct Owned {
        Address address;
        std::uint64_t units;
    };

    void own(Address address, std::uint64_t units)
    {
        for (std::uint64_t unit = 0; unit < units; ++unit) {
            const std::uint64_t before =
                arena->memory[(address - kFirst) / kUnit + unit].exchange(1);
            wrong += before % 2 != 0 || !epochs.passed(before / 2);
        }
    }
    void disown(const Owned& block, std::size_t first)
    {
        for (std::uint64_t unit = 0; unit < block.units; ++unit)
            arena->memory[(block.address - kFirst) / kUnit + unit].store(epochs.now() * 2);
        Freed answer = Freed::foreign;
        for (std::size_t at = 0; at < pools.size() && answer == Freed::foreign; ++at)
            answer = pools[(first + at) % pools.size()]->free(block.address);
        wrong += answer != Freed::cached;
    }
    bool is_live(const Owned& block)
    {
        int live = 0;
        for (const auto& pool : pools)
            live += pool->find(block.address).state == State::live;
        return live == 1;
    }

    void work(std::uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const std::size_t first = seed % pools.size();
        std::vector<Owned> owned;
        for (int call = 0; call < 30000; ++call) {
            if (owned.size() < 20 && random() % 2) {
                const std::uint64_t units = 1 + random() % 8;
                const Allocation answer = pools[first]->allocate(units * kUnit, random() % 4 != 0);
                if (answer.status != 0)
                    continue;
                own(answer.address, units);
                owned.push_back({answer.address, units});
            } else if (!owned.empty()) {
                std::swap(owned[random() % owned.size()], owned.back());
                wrong += !is_live(owned.back());
                disown(owned.back(), first);
                owned.pop_back();
            }
        }
        for (const Owned& block : owned)
            disown(block, first);
    }

    void disturb()
    {
        for (int call = 0; !done; ++call) {
            arena->synchronise();
            for (const auto& pool : pools) {
                wrong += pool->validate() != nullptr;
                if (call % 16 == 0)
                    pool->trim(Release::asked);
                pool->stats();
            }
            std::this_thread::yield();
        }
    }

    void add_pool()
    {
        pools.push_back(std::make_unique<Pool<Arena, Policy>>(*arena, epochs, Options{}));
    }

    void four_threads_and_one_that_disturbs()
    {
        std::thread disturbing([this] { disturb(); });
        std::vector<std::thread> working;
        for (std::uint64_t seed = 1; seed <= 4; ++seed)
            working.emplace_back([this, seed] { work(seed); });
        for (std::thread& each : working)
            each.join();
        done = true;
        disturbing.join();
        EXPECT_EQ(wrong, 0);
        arena->synchronise();
        for (const auto& pool : pools) {
            EXPECT_EQ(pool->stats().allocation.all.current, 0u);
            pool->trim(Release::asked);
            EXPECT_EQ(pool->stats().reserved_bytes.all.current, 0u);
            EXPECT_EQ(pool->validate(), nullptr);
        }
    }

    Epochs epochs;
    std::unique_ptr<Arena> arena = std::make_unique<Arena>(epochs);
    std::vector<std::unique_ptr<Pool<Arena, Policy>>> pools;
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
};

using Policies = testing::Types<CachePolicy, SplitPolicy>;
TYPED_TEST_SUITE(PoolThreads, Policies);

} // namespace

TYPED_TEST(PoolThreads, NoMemoryHasTwoOwners)
{
    this->add_pool();
    this->four_threads_and_one_that_disturbs();
}

TYPED_TEST(PoolThreads, NoMemoryHasTwoOwnersWhereAContextHasSeveralPools)
{
    for (unsigned number = 0; number < 3; ++number) {
        this->add_pool();
        if (number != 0)
            this->pools.back()->share_with(*this->pools.front(), number);
    }
    this->four_threads_and_one_that_disturbs();
}
