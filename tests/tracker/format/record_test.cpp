// tests/tracker/format/record_test.cpp — hot records come back as they were, whatever the deltas.
#include "tracker/format/record.hpp"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::format;

namespace {

Alloc round_trip(const Alloc& event, const DeltaState& before, std::size_t* bytes = nullptr)
{
    std::uint8_t buffer[kMaxHotBytes];
    DeltaState writing = before, reading = before;
    const std::uint8_t* end = encode_alloc(buffer, event, writing);
    if (bytes)
        *bytes = static_cast<std::size_t>(end - buffer);
    Cursor in(buffer, end);
    const std::uint8_t tag = in.u8();
    EXPECT_EQ(tag_of(tag), Tag::alloc);
    const Alloc result = decode_alloc(in, tag, reading);
    EXPECT_TRUE(in.ok() && in.at_end());
    EXPECT_EQ(reading.ticks, writing.ticks);
    EXPECT_EQ(reading.address, writing.address);
    return result;
}

bool equal(const Alloc& a, const Alloc& b)
{
    return a.api == b.api && a.ticks == b.ticks && a.address == b.address && a.bytes == b.bytes &&
           a.stack == b.stack;
}

std::uint64_t any_number(std::mt19937_64& random)
{
    return random() >> (random() % 64);
}

std::uint32_t any_id(std::mt19937_64& random)
{
    return static_cast<std::uint32_t>(any_number(random));
}

} // namespace

TEST(AllocRecord, ComesBackForAnyNumbers)
{
    std::mt19937_64 random(1);
    for (int repeat = 0; repeat < 50000; ++repeat) {
        const DeltaState before{any_number(random), any_number(random)};
        const Alloc event{any_id(random),     any_number(random), any_number(random),
                          any_number(random), any_id(random),     Memory::none};
        EXPECT_TRUE(equal(round_trip(event, before), event));
    }
}

TEST(AllocRecord, NeverTakesMoreThanTheReservedBytes)
{
    std::size_t bytes = 0;
    const Alloc event{UINT32_MAX, UINT64_MAX / 2, UINT64_MAX, UINT64_MAX, UINT32_MAX, Memory::none};
    const DeltaState before{UINT64_MAX - 1, std::uint64_t{1} << 62};
    EXPECT_TRUE(equal(round_trip(event, before, &bytes), event));
    EXPECT_LE(bytes, kMaxHotBytes);
    EXPECT_GT(bytes, 30u);
}

TEST(AllocRecord, TakesFourBytesForANeighbouringBlockFromTheSamePlace)
{
    std::size_t bytes = 0;
    const Alloc event{4, 1050, 0x7f0000001000, 4096, 7, Memory::none};
    const auto bytes_after = [&](const DeltaState::Call& last) {
        EXPECT_TRUE(equal(round_trip(event, {1000, 0x7f0000000000, last, {}}, &bytes), event));
        return bytes;
    };
    EXPECT_EQ(bytes_after({4, 7}), 4u);
    EXPECT_EQ(bytes_after({4, 8}), 5u);
    EXPECT_EQ(bytes_after({3, 7}), 5u);
    EXPECT_EQ(bytes_after({3, 8}), 6u);
}

TEST(AllocRecord, AppliesDeltasAcrossTheEndsOfTheAddressSpace)
{
    constexpr std::pair<std::uint64_t, std::uint64_t> kSteps[] = {
        {0, UINT64_MAX}, {UINT64_MAX, 0}, {std::uint64_t{1} << 63, 0}, {0xff00, ~0xffull}};
    for (const auto& [from, to] : kSteps) {
        const Alloc event{1, to, to, 256, 0, Memory::none};
        EXPECT_TRUE(equal(round_trip(event, {from, from}), event));
    }
}

TEST(FreeRecord, ComesBackAndSharesTheDeltasOfAllocs)
{
    std::uint8_t buffer[3 * kMaxHotBytes];
    DeltaState writing;
    std::uint8_t* at = encode_alloc(buffer, {1, 100, 0x1000, 64, 2, Memory::none}, writing);
    at = encode_free(at, {8, 90, 0x1000, 7}, writing);
    at = encode_free(at, {8, 5'000'000'000, 0x1001, 0}, writing);

    DeltaState reading;
    Cursor in(buffer, at);
    const std::uint8_t alloc_tag = in.u8();
    decode_alloc(in, alloc_tag, reading);
    const std::uint8_t first_tag = in.u8();
    const Free first = decode_free(in, first_tag, reading);
    EXPECT_EQ(first.api, 8u);
    EXPECT_EQ(first.ticks, 90u);
    EXPECT_EQ(first.address, 0x1000u);
    const std::uint8_t second_tag = in.u8();
    EXPECT_TRUE(second_tag & kFineAddress);
    const Free second = decode_free(in, second_tag, reading);
    EXPECT_EQ(second.ticks, 5'000'000'000u);
    EXPECT_EQ(second.address, 0x1001u);
    EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(HotRecords, KeepTheCallOfAllocsAndThatOfFreesApart)
{
    std::uint8_t buffer[6 * kMaxHotBytes];
    DeltaState writing;
    std::uint8_t* at = buffer;
    std::mt19937_64 random(4);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
    const auto any_call = [&] { return calls.emplace_back(random() % 2 ? 300 : 4, random() % 2); };
    for (int event = 0; event < 6; ++event) {
        const auto [api, stack] = any_call();
        if (event % 2)
            at = encode_free(at, {api, 1, 0x1000, stack}, writing);
        else
            at =
                encode_alloc(at, {api, 1, 0x1000, 64, stack, Memory::none, event == 2, 0}, writing);
    }
    DeltaState reading;
    Cursor in(buffer, at);
    for (const auto& call : calls) {
        const std::uint8_t tag = in.u8();
        const bool free = tag_of(tag) == Tag::free;
        const DeltaState::Call& last = free ? reading.free : reading.alloc;
        free ? void(decode_free(in, tag, reading)) : void(decode_alloc(in, tag, reading));
        EXPECT_EQ(std::pair(last.api, last.stack), call);
    }
    EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(PlaceRecord, ComesBack)
{
    std::mt19937_64 random(3);
    for (int repeat = 0; repeat < 1000; ++repeat) {
        const Place place{any_number(random), static_cast<std::int64_t>(any_number(random)),
                          any_number(random), any_number(random), random() % 2 == 0};
        std::uint8_t buffer[kMaxHotBytes];
        Cursor in(buffer, encode_place(buffer, place));
        EXPECT_EQ(static_cast<Tag>(in.u8()), Tag::place);
        EXPECT_EQ(decode_place(in), place);
        EXPECT_TRUE(in.ok() && in.at_end());
    }
}

// A reader that is given a record cut anywhere must say so, and not make one up.
TEST(HotRecords, AreRefusedWhenCut)
{
    std::uint8_t buffer[kMaxHotBytes];
    DeltaState deltas;
    const std::uint8_t* end =
        encode_alloc(buffer, {300, 70000, 0x7f0000000040, 1001, 900, Memory::none}, deltas);
    for (const std::uint8_t* cut = buffer + 1; cut < end; ++cut) {
        DeltaState reading;
        Cursor in(buffer, cut);
        const std::uint8_t tag = in.u8();
        decode_alloc(in, tag, reading);
        EXPECT_FALSE(in.ok()) << "cut after " << cut - buffer << " bytes";
    }
}

TEST(KeySpaces, KeepHandlesAndPointersApart)
{
    EXPECT_EQ(key_space(Memory::device), key_space(Memory::graph));
    EXPECT_EQ(key_space(Memory::device), key_space(Memory::managed));
    for (const Memory other : {Memory::pinned, Memory::registered, Memory::array, Memory::mipmap,
                               Memory::physical, Memory::reservation, Memory::none})
        EXPECT_NE(key_space(Memory::device), key_space(other));
    EXPECT_EQ(key_space(static_cast<Memory>(200)), KeySpace::none);
}
