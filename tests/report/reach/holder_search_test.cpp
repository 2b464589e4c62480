// tests/report/reach/holder_search_test.cpp — memory of no process: heaps, and who holds what.
#include "report/reach/holder_search.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "report/reach/heap_blocks.hpp"
#include "report/reach/memory/glibc_chunks.hpp"
#include "report/reach/memory/memory_map.hpp"
#include "report/reach/memory/module_names.hpp"
#include "report/reach/memory/sieve.hpp"
#include "tests/report/reach/heap_only.hpp"

namespace vramscope::report {
namespace {

HeapBlock::State state_at(const HeapOnly& memory, Address address)
{
    const ModuleNames modules(memory);
    const std::vector<AddressSpan> none;
    const MemoryMap map(memory, modules, "log", none);
    return HeapBlocks(memory).around(*map.find(address), {address}).front().state;
}

TEST(HeapBlocks, AChunkIsInUseIfTheNextOneSaysSo)
{
    HeapOnly memory(64);
    memory.words[1] = 64 | kInUse;      // at 0: in use
    memory.words[8 + 1] = 128 | kInUse; // at 64: free
    memory.words[24 + 1] = 320;         // at 192: the top
    EXPECT_EQ(state_at(memory, kHeap + 16), HeapBlock::State::live);
    EXPECT_EQ(state_at(memory, kHeap + 64), HeapBlock::State::live) << "the next one's first word";
    EXPECT_EQ(state_at(memory, kHeap + 80), HeapBlock::State::unused);
    EXPECT_EQ(state_at(memory, kHeap + 400), HeapBlock::State::unused);
}

// Since glibc 2.42 a list's number is the room that is left in it.
TEST(HeapBlocks, AThreadsListsOfFreedChunksAreNotInUse)
{
    for (const FreedLists& lists : kFreedLists) {
        const std::uint16_t of_empty = lists.count == 64 ? 0 : 16;
        HeapOnly memory(256);
        memory.words[1] = lists.chunk_bytes | kInUse;
        memory.words[lists.chunk_bytes / 8 + 1] = 512 | kInUse;
        std::vector<std::uint16_t> numbers(lists.count, of_empty);
        numbers[5] = 3;
        std::memcpy(&memory.words[2], numbers.data(), numbers.size() * sizeof numbers[0]);
        const std::size_t heads = 2 + lists.count / 4;
        memory.words[heads + 5] = kHeap + 1024;
        EXPECT_EQ(state_at(memory, kHeap + 64), HeapBlock::State::unused) << lists.count;
        memory.words[heads + 6] = kHeap + 1024;
        EXPECT_EQ(state_at(memory, kHeap + 64), HeapBlock::State::live) << "a head without number";
    }
}

TEST(HeapBlocks, BehindWhatIsNoHeaderNothingIsKnown)
{
    for (const std::uint64_t header : {0ULL, 24ULL, 33ULL << 3, 1ULL << 40, ~0ULL}) {
        HeapOnly memory(64);
        memory.words[1] = 64 | kInUse;
        memory.words[9] = header;
        EXPECT_EQ(state_at(memory, kHeap + 200), HeapBlock::State::unknown) << header;
    }
}

// Chunks of 32 to 4,128 bytes in 1 MiB: what is looked at later finds what a first walk would.
TEST(HeapBlocks, OfMemoryThatStandsStillASecondLookFindsTheSame)
{
    HeapOnly memory(1 << 17);
    std::mt19937_64 random(7);
    for (std::size_t at = 0; at < memory.words.size();) {
        const std::size_t words =
            std::min<std::size_t>(4 + 2 * (random() % 256), memory.words.size() - at);
        memory.words[at + 1] = words * 8 | (random() % 3 ? kInUse : 0);
        at += words;
    }
    const ModuleNames modules(memory);
    const std::vector<AddressSpan> none;
    const MemoryMap map(memory, modules, "log", none);
    const HeapBlocks again(memory);
    for (int look = 0; look < 200; ++look) {
        const Address address = kHeap + random() % (memory.words.size() - 8) * 8;
        const HeapBlock first = HeapBlocks(memory).around(*map.find(address), {address}).front();
        const HeapBlock later = again.around(*map.find(address), {address}).front();
        EXPECT_EQ(std::tuple(first.begin, first.end, first.state),
                  std::tuple(later.begin, later.end, later.state))
            << address - kHeap;
    }
}

TEST(HolderSearch, ALoopOfHeapBlocksIsHeldByNobody)
{
    constexpr Address kBlock = 0x302000000;
    HeapOnly memory(64);
    for (std::size_t chunk = 0; chunk < 64; chunk += 8)
        memory.words[chunk + 1] = 64 | kInUse;
    memory.words[2] = kBlock;
    memory.words[3] = kHeap + 64 + 16;
    memory.words[8 + 2] = kHeap + 16;
    const std::vector<WantedBlock> wanted{{{kBlock, kBlock + 512}}};
    const HeapSearch of_heap(memory, wanted);
    const HolderSearch& search = of_heap.search;
    EXPECT_FALSE(search.left_open());
    EXPECT_EQ(search.holders().nodes().size(), 3);
    EXPECT_EQ(search.holders().ways({true, true})[0].from, kNoNode);
}

// What holds a block that is held elsewhere is looked at once it holds, a level later, another.
TEST(HolderSearch, WhatNeedsNoProofAtOneLevelMayBeAProofAtALaterOne)
{
    constexpr Address kHeldTwice = 0x302000000, kHeldOnce = 0x302001000;
    HeapOnly memory(64);
    for (std::size_t chunk = 0; chunk < 64; chunk += 8)
        memory.words[chunk + 1] = 64 | kInUse;
    memory.words[2] = kHeldTwice;
    memory.words[3] = kHeap + 64 + 16;
    memory.words[8 + 2] = kHeldOnce;
    memory.set_registers({kHeldTwice, kHeap + 16});
    const std::vector<WantedBlock> wanted{{{kHeldTwice, kHeldTwice + 512}},
                                          {{kHeldOnce, kHeldOnce + 512}}};
    const HeapSearch of_heap(memory, wanted);
    const auto ways = of_heap.search.holders().ways({false, false, false});
    EXPECT_NE(ways[0].from, kNoNode);
    EXPECT_NE(ways[1].from, kNoNode);
}

constexpr std::size_t kChunks = 40, kChunkWords = 8;
constexpr Address kBlocks = 0x302000000;

Address chunk_begin(std::size_t chunk)
{
    return kHeap + chunk * kChunkWords * 8 + 16;
}

// Which of the words' values are reached from these registers, by a walk.
std::set<Address> walk(const HeapOnly& memory, std::vector<std::uint64_t> now)
{
    std::set<Address> reached;
    while (!now.empty()) {
        const Address value = now.back();
        now.pop_back();
        if (value == 0 || !reached.insert(value).second || value >= kBlocks)
            continue;
        const std::size_t first = (value - kHeap) / 8;
        for (std::size_t word = first; word < first + kChunkWords - 2; ++word)
            now.push_back(memory.words[word]);
    }
    return reached;
}

TEST(HolderSearch, OfRandomGraphsItReachesWhatAWalkFromTheRootsReaches)
{
    std::mt19937_64 random(7);
    std::size_t held = 0;
    for (int round = 0; round < 300; ++round) {
        HeapOnly memory(kChunks * kChunkWords);
        const std::size_t blocks = 1 + random() % 12;
        const auto pointer = [&]() -> std::uint64_t {
            return random() % 3 ? chunk_begin(random() % (kChunks - 1)) // the last is the top
                                : kBlocks + random() % blocks * 4096;
        };
        for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
            memory.words[chunk * kChunkWords + 1] = kChunkWords * 8 | kInUse;
            for (std::size_t word = 2; word < kChunkWords; ++word)
                if (random() % 6 == 0)
                    memory.words[chunk * kChunkWords + word] = pointer();
        }
        std::vector<std::uint64_t> registers;
        for (std::size_t i = 0, count = random() % 4; i < count; ++i)
            registers.push_back(pointer());
        memory.set_registers(registers);
        std::vector<WantedBlock> wanted;
        for (std::size_t block = 0; block < blocks; ++block)
            wanted.push_back({{kBlocks + block * 4096, kBlocks + block * 4096 + 512}});
        const HeapSearch of_heap(memory, wanted);
        const std::set<Address> reached = walk(memory, registers);
        const auto ways = of_heap.search.holders().ways({false, false, false});
        for (std::size_t block = 0; block < blocks; ++block) {
            const bool is_held = ways[block].from != kNoNode;
            held += is_held;
            EXPECT_EQ(is_held, reached.contains(wanted[block].begin)) << round << " " << block;
        }
    }
    EXPECT_GT(held, 300u);
}

TEST(Holders, AWayByTypeReachesObjectsFromPythonsOwnVariablesAlone)
{
    Holders holders({{0x1000, 0x2000}});
    const NodeId variable = holders.add({{0x10, 0x10}, RootKind::variable, 0, 0, {}, {}});
    const NodeId unknown = holders.add({{0x100, 0x140}, RootKind::none, 0, 0, {}, {}});
    const NodeId object = holders.add({{0x200, 0x240}, RootKind::none, 0x200, 0, {}, {}});
    const NodeId piece = holders.add({{0x300, 0x340}, RootKind::none, 0, 0, {}, {}});
    holders.link(variable, {unknown, 0x10, true});
    holders.link(unknown, {object, 0x110, true, true});
    holders.link(object, {piece, 0x210, true});
    holders.link(piece, {0, 0x310, true});
    const Proof by_type{false, false, false, ByType::all};
    EXPECT_EQ(holders.ways({false, false, false})[0].from, piece);
    EXPECT_EQ(holders.ways(by_type)[0].from, kNoNode);
    EXPECT_EQ(holders.ways({false, false, false, ByType::steps})[0].from, kNoNode);
    const NodeId module = holders.add({{0x400, 0x440}, RootKind::python_module, 0x400, 0, {}, {}});
    holders.link(module, {object, 0x418});
    EXPECT_EQ(holders.ways(by_type)[0].from, kNoNode) << "a word that points into it owns nothing";
    holders.link(module, {object, 0x410, true, true});
    EXPECT_EQ(holders.ways(by_type)[object].from, module);
    EXPECT_EQ(holders.ways(by_type)[0].from, piece) << "below objects any block counts";
}

// module -> object, which has a way of its own to the block, and a longer one by `foreign`.
struct TwoWays {
    Holders holders{{{0x1000, 0x2000}}};
    NodeId module = holders.add({{0x400, 0x440}, RootKind::python_module, 0x400, 0, {}, {}});
    NodeId object = holders.add({{0x200, 0x240}, RootKind::none, 0x200, 0, {}, {}});
    NodeId unknown = holders.add({{0x300, 0x340}, RootKind::none, 0, 0, {}, {}});
    NodeId foreign = kNoNode;

    explicit TwoWays(bool is_foreign)
    {
        holders.link(module, {object, 0x410, true, true});
        holders.link(object, {unknown, 0x210, true});
        holders.link(unknown, {0, 0x310, true});
        Node node{{0x500, 0x540}, RootKind::none, 0, 0, {}, {}};
        node.is_foreign = is_foreign;
        foreign = holders.add(node);
        NodeId last = object;
        for (Address at = 0x10000; at < 0x10800; at += 0x100) {
            Node next{{at, at + 0x40}, RootKind::none, at, 0, {}, {}};
            next.is_foreign = is_foreign && at == 0x10700;
            const NodeId added = holders.add(next);
            holders.link(last, {added, holders.nodes()[last].begin + 8, true, true});
            last = added;
        }
        holders.link(last, {foreign, 0x10708, true});
        holders.link(foreign, {0, 0x510, true});
    }
};

TEST(Holders, ALongWayByForeignObjectsIsSurerThanAShortOneByABlockOfUnknownType)
{
    const TwoWays sure(true);
    EXPECT_EQ(sure.holders.ways({false, false, false, ByType::surely})[0].from, sure.foreign);
    EXPECT_EQ(sure.holders.ways({false, false, false, ByType::all})[0].from, sure.foreign);
    const TwoWays unsure(false);
    EXPECT_EQ(unsure.holders.ways({false, false, false, ByType::surely})[0].from, kNoNode);
    EXPECT_EQ(unsure.holders.ways({false, false, false, ByType::all})[0].from, unsure.unknown);
}

TEST(Holders, AnObjectOfCppHoldsAnObjectOfPython)
{
    Holders holders({{0x1000, 0x2000}});
    const NodeId module = holders.add({{0x400, 0x440}, RootKind::python_module, 0x400, 0, {}, {}});
    Node of_cpp{{0x100, 0x140}, RootKind::none, 0, 0, {}, {}};
    of_cpp.is_foreign = true;
    const NodeId node = holders.add(of_cpp);
    const NodeId object = holders.add({{0x200, 0x240}, RootKind::none, 0x200, 0, {}, {}});
    holders.link(module, {node, 0x410, true});
    holders.link(object, {0, 0x210, true});
    holders.link(node, {object, 0x110, true});
    EXPECT_EQ(holders.ways({false, false, false, ByType::all})[0].from, kNoNode)
        << "a word that is no reference";
    holders.link(node, {object, 0x118, true, true});
    EXPECT_EQ(holders.ways({false, false, false, ByType::all})[0].from, object);
}

TEST(Sieve, FindsWhatALookAtEachBlockFinds)
{
    std::mt19937_64 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<AddressSpan> blocks;
        Address at = random() % 2 ? 0x302000000 : 0x7f0000000000;
        for (int i = 0; i < 40; ++i) {
            at += random() % (round % 2 ? 4096 : 1ULL << 32);
            blocks.push_back({at, at + 1 + random() % 4096});
            at = blocks.back().end;
        }
        std::vector<std::uint64_t> words(999);
        for (std::uint64_t& word : words)
            word = blocks[random() % 40].begin + random() % 8192 - 4096;
        words[5] = 0;
        words[6] = ~0ULL;
        std::vector<std::size_t> expected(words.size(), Sieve::kNone), got = expected;
        for (std::size_t i = 0; i < words.size(); ++i)
            for (std::size_t block = 0; block < blocks.size(); ++block)
                if (words[i] >= blocks[block].begin && words[i] < blocks[block].end)
                    expected[i] = block;
        Sieve(blocks).scan(words.data(), words.size(),
                           [&](std::size_t i, std::size_t block) { got[i] = block; });
        EXPECT_EQ(got, expected);
    }
}

} // namespace
} // namespace vramscope::report
