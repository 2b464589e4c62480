// tests/interpose/pool/tables_test.cpp — records by number, numbers by address, address order.
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "interpose/pool/address_map.hpp"
#include "interpose/pool/address_tree.hpp"
#include "interpose/pool/slab.hpp"

using namespace vramscope::pool;

TEST(Slab, NumbersStayGoodWhileItGrowsAndAreUsedAgain)
{
    Slab<std::uint64_t> slab;
    for (std::uint64_t each = 1; each <= 5000; ++each) {
        const Index index = slab.add();
        ASSERT_EQ(index, each);
        slab[index] = each;
    }
    for (Index index = 1; index <= 5000; ++index)
        ASSERT_EQ(slab[index], index);
    slab.remove(17);
    slab.remove(4711);
    EXPECT_EQ(slab.add(), 4711u);
    EXPECT_EQ(slab.add(), 17u);
    EXPECT_EQ(slab.add(), 5001u);
}

TEST(AddressMap, FindsWhatIsThereAndNothingElse)
{
    constexpr Index kMost = 300'000; // enough for some to have the same 32 bits of hash
    std::vector<std::uint64_t> keys{0};
    const auto key_of = [&](Index index) { return keys[index]; };
    AddressMap map;
    EXPECT_EQ(map.find(512, key_of), 0u);
    for (Index index = 1; index <= kMost; ++index) {
        keys.push_back(0x7f0000000000 + std::uint64_t{index} * 512);
        ASSERT_TRUE(map.make_room());
        map.insert(keys[index], index);
    }
    for (Index index = 1; index <= kMost; ++index) {
        ASSERT_EQ(map.find(keys[index], key_of), index);
        ASSERT_EQ(map.find(keys[index] - 0x100000000000, key_of), 0u);
    }
    for (Index index = 1; index <= kMost; index += 2)
        map.erase(keys[index], index);
    EXPECT_EQ(map.size(), kMost / 2);
    for (Index index = 1; index <= kMost; ++index)
        ASSERT_EQ(map.find(keys[index], key_of), index % 2 ? 0u : index);
}

namespace {

struct Node {
    std::uint64_t address;
    Index left, right;
};
struct Nodes {
    std::vector<Node>* nodes;
    std::uint64_t address(Index index) const { return (*nodes)[index].address; }
    Index& left(Index index) const { return (*nodes)[index].left; }
    Index& right(Index index) const { return (*nodes)[index].right; }
};

} // namespace

TEST(AddressTree, AnswersAsAnOrderedSetDoes)
{
    std::mt19937_64 random(3);
    std::vector<Node> nodes(1001);
    AddressTree<Nodes> tree{Nodes{&nodes}};
    std::set<std::pair<std::uint64_t, Index>> expected;
    for (int call = 0; call < 20'000; ++call) {
        const auto index = static_cast<Index>(1 + random() % 1000);
        const auto there = expected.find({nodes[index].address, index});
        if (there != expected.end()) {
            tree.erase(index);
            expected.erase(there);
        } else {
            nodes[index].address = (1 + random() % 100'000) * 1024 + index;
            tree.insert(index);
            expected.insert({nodes[index].address, index});
        }
        const std::uint64_t address = random() % 110'000 * 1024;
        const auto after = expected.upper_bound({address, ~Index{0}});
        ASSERT_EQ(tree.at_or_before(address),
                  after == expected.begin() ? 0 : std::prev(after)->second);
    }
}
