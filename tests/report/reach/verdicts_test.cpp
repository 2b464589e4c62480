// tests/report/reach/verdicts_test.cpp — the words for what holds, along chains of any length.
#include "report/reach/verdicts.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "report/reach/heap_blocks.hpp"
#include "report/reach/memory/memory_map.hpp"
#include "report/reach/memory/module_names.hpp"
#include "tests/report/reach/heap_only.hpp"

namespace vramscope::report {
namespace {

constexpr Address kListed = 0x402000000;

// A register leads to a list: each element to the next one and to a block of its own.
struct List {
    static constexpr std::size_t kWords = 4;

    explicit List(std::size_t elements) : memory((elements + 1) * kWords)
    {
        for (std::size_t at = 0; at <= elements; ++at)
            memory.words[at * kWords + 1] = kWords * 8 | kInUse;
        for (std::size_t at = 0; at < elements; ++at) {
            if (at + 1 < elements)
                memory.words[at * kWords + 2] = chunk_begin(at + 1);
            memory.words[at * kWords + 3] = kListed + at * 4096;
            wanted.push_back({{kListed + at * 4096, kListed + at * 4096 + 512}});
        }
        memory.set_registers({chunk_begin(0)});
    }
    static Address chunk_begin(std::size_t at) { return kHeap + at * kWords * 8 + 16; }

    HeapOnly memory;
    std::vector<WantedBlock> wanted;
};

// Each block's chain is that of the element before, and one step: else this took hours.
TEST(Verdicts, OfALongListEachElementIsTold)
{
    constexpr std::size_t kElements = 100'000;
    const List list(kElements);
    const HeapSearch of_heap(list.memory, list.wanted);
    Verdicts verdicts(list.memory, of_heap.map, of_heap.modules, nullptr, of_heap.search);
    HolderSteps all = verdicts.of(0).chain;
    for (std::size_t at = 0; at < kElements; ++at) {
        const BlockVerdict said = verdicts.of(at);
        ASSERT_EQ(said.verdict, Reached::held);
        ASSERT_EQ(said.chain.size(), 2u);
        ASSERT_EQ(said.chain.back().most_times, at + 1);
        ASSERT_EQ(texts_of(said.chain), texts_of(all));
        widen(all, said.chain);
    }
    EXPECT_EQ(chain_of(all).back(), "a heap block of 16 B, 1 to 100,000 times");
}

TEST(HolderSteps, TheSameStepAgainIsToldOnce)
{
    HolderSteps steps;
    for (const char* text : {"a", "b", "b", "b", "a"})
        add_step(steps, text);
    EXPECT_EQ(texts_of(steps), "a -> b -> a");
    EXPECT_EQ(chain_of(steps), (std::vector<std::string>{"a", "b, 3 times", "a"}));
    HolderSteps longer;
    for (const char* text : {"a", "b", "b", "b", "b", "a"})
        add_step(longer, text);
    widen(steps, longer);
    EXPECT_EQ(chain_of(steps), (std::vector<std::string>{"a", "b, 3 to 4 times", "a"}));
}

} // namespace
} // namespace vramscope::report
