// tests/report/log/log_tables_test.cpp — definitions: decoded, bounded, and looked up.
//
// Modules are found by address and time.
#include "report/log/log_tables.hpp"

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/tables_of.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::tables_of;

void add_number(Bytes& out, std::uint64_t value)
{
    std::uint8_t buffer[format::kMaxVarintBytes];
    out.insert(out.end(), buffer, format::put_varint(buffer, value));
}

constexpr auto tag(format::Tag value)
{
    return static_cast<std::uint8_t>(value);
}

TEST(LogTables, KeepsDefinitionsByNumber)
{
    LogBuilder log;
    log.define_api("cuMemHostAlloc").info("program", "train").thread_name(4711, "loader");
    log.device(1, 80ull << 30, "H100").stack(5, {0x2000, 0x1000, 0x3000}, true);
    LogTables tables = tables_of(log);
    ASSERT_NE(tables.api(1), nullptr);
    EXPECT_EQ(tables.api(1)->name, "cuMemHostAlloc");
    EXPECT_EQ(tables.api(1)->memory, format::Memory::pinned);
    EXPECT_EQ(tables.api(2), nullptr);
    EXPECT_EQ(tables.info().at(0), (std::pair<std::string, std::string>("program", "train")));
    EXPECT_EQ(tables.thread(0).tid, 4711u);
    EXPECT_EQ(tables.thread(0).name, "loader");
    EXPECT_EQ(tables.devices().at(0).name, "H100");
    ASSERT_NE(tables.stack(5), nullptr);
    EXPECT_EQ(tables.stack(5)->addresses(), (std::vector<std::uint64_t>{0x2000, 0x1000, 0x3000}));
    EXPECT_TRUE(tables.stack(5)->truncated);
    EXPECT_EQ(tables.undefined(), 0u);
}

TEST(LogTables, ModuleIsFoundByAddressAndTime)
{
    LogBuilder log;
    log.at(100).module(1, 0x10000, 0x10000, 0x20000, "/lib/old.so");
    log.at(200).module_gone(1).at(300).module(2, 0x10000, 0x10000, 0x20000, "/lib/new.so");
    const LogTables tables = tables_of(log);
    EXPECT_EQ(tables.module_at(0x15000, 150)->id.path, "/lib/old.so");
    EXPECT_EQ(tables.module_at(0x15000, 350)->id.path, "/lib/new.so");
    EXPECT_EQ(tables.module_at(0x15000, 290)->id.path, "/lib/new.so")
        << "noticed soon after its first call";
    EXPECT_EQ(tables.module_at(0x15000, 50)->id.path, "/lib/old.so");
    EXPECT_EQ(tables.module_at(0x20000, 150), nullptr) << "the end is outside";
    EXPECT_EQ(tables.module_at(0x0ffff, 150), nullptr);
}

TEST(LogTables, AStacksTimeIsThatOfTheRecordBeforeIt)
{
    LogBuilder log;
    log.at(100).module(1, 0, 0x10000, 0x20000, "/lib/old.so").at(777).mark("x").stack(5, {0x10010});
    EXPECT_EQ(tables_of(log).stack(5)->known_since_ticks, 777u);
}

TEST(LogTables, FramesOfAnAddressEndWithTheFirstThatIsNotInlined)
{
    using format::FrameName;
    LogBuilder log;
    log.module(3, 0x10000, 0x10000, 0x20000, "/lib/a.so").module(4, 0, 1, 2, "/lib/b.so");
    log.add(FrameName{3, 0x50, FrameName::kInlined, "inner", {}, "a.cpp", 7, 5});
    log.add(FrameName{3, 0x60, FrameName::kNoUnwindTable, "other", {}, {}, UINT64_MAX, 0});
    log.add(FrameName{3, 0x50, 0, "outer", "short", "b.cpp", 9, 8});
    log.add(FrameName{3, 0x50, 0, "a second word", {}, {}, 0, 0});
    const LogTables tables = tables_of(log);
    const Module& module = tables.modules().front();
    const LoggedFrames* const known = tables.frames(module, 0x50);
    ASSERT_NE(known, nullptr);
    ASSERT_EQ(known->frames.size(), 2u);
    EXPECT_EQ(known->frames[0].function, "inner");
    EXPECT_EQ(known->frames[0].line, 7);
    EXPECT_TRUE(known->frames[0].inlined);
    EXPECT_EQ(known->frames[1].short_name, "short");
    EXPECT_EQ(known->frames[1].function_line, 8);
    EXPECT_FALSE(known->no_unwind_table);
    EXPECT_TRUE(tables.frames(module, 0x60)->no_unwind_table);
    EXPECT_EQ(tables.frames(module, 0x60)->frames.at(0).line, 0) << "no number of a line";
    EXPECT_EQ(tables.frames(module, 0x51), nullptr);
    EXPECT_EQ(tables.frames(tables.modules().back(), 0x50), nullptr) << "another module";
    EXPECT_EQ(tables.undefined(), 1u);
}

TEST(LogTables, AnAddressHasNoMoreInlinedFramesThanAReaderNeeds)
{
    LogBuilder log;
    log.module(3, 0x10000, 0x10000, 0x20000, "/lib/a.so");
    for (int round = 0; round < 300; ++round)
        log.add(format::FrameName{3, 0x50, format::FrameName::kInlined, "f", {}, {}, 0, 0});
    const LogTables tables = tables_of(log);
    EXPECT_EQ(tables.frames(tables.modules().front(), 0x50)->frames.size(), 256u);
    EXPECT_EQ(tables.undefined(), 44u);
}

struct Hostile {
    const char* what;
    format::Tag tag;
    std::vector<std::uint64_t> numbers;
};

class HostileDefinition : public testing::TestWithParam<Hostile> {};

TEST_P(HostileDefinition, IsDroppedAndCounted)
{
    LogBuilder log;
    Bytes body;
    for (const std::uint64_t number : GetParam().numbers)
        add_number(body, number);
    log.record(tag(GetParam().tag), body);
    const LogTables tables = tables_of(log);
    EXPECT_EQ(tables.undefined(), 1u);
    EXPECT_TRUE(tables.apis().empty());
    EXPECT_TRUE(tables.devices().empty());
    EXPECT_TRUE(tables.info().empty());
    EXPECT_EQ(tables.stack(1), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, HostileDefinition,
    testing::Values(Hostile{"ApiNumberTooLarge", format::Tag::api, {UINT64_MAX, 1, 1, 0}},
                    Hostile{"ApiOfUnknownMemory", format::Tag::api, {1, 1, 99, 0}},
                    Hostile{"ApiOfUnknownEffect", format::Tag::api, {1, 99, 1, 0}},
                    Hostile{"ApiWithoutName", format::Tag::api, {1, 1, 1}},
                    Hostile{"StackLongerThanItsRecord", format::Tag::stack, {1, 0, UINT64_MAX, 1}},
                    Hostile{"StackThatEndsEarly", format::Tag::stack, {1, 0, 2, 1}},
                    Hostile{"EmptyStackRecord", format::Tag::stack, {}},
                    Hostile{"DeviceNumberTooLarge", format::Tag::device, {UINT64_MAX, 1, 0}},
                    Hostile{"InfoLongerThanItsRecord", format::Tag::info, {UINT64_MAX}},
                    Hostile{"ThreadWithoutName", format::Tag::thread, {1, 2}},
                    Hostile{"ModuleThatEndsBeforeItBegins",
                            format::Tag::module_loaded,
                            {0, 1, 0, 20, 10, 0, 0}},
                    Hostile{"FrameWithoutLine", format::Tag::frame_name, {1, 2, 0, 0, 0, 0}},
                    Hostile{"GoneModuleThatNeverWas", format::Tag::module_gone, {0, 9}}),
    [](const auto& test_case) { return std::string(test_case.param.what); });

} // namespace
} // namespace vramscope::report
