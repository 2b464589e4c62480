// tests/tracker/capture/cfi_test.cpp — frame_rule leads to an unwinder's addresses, or gives up.
//
// Some tests walk frames of every shape by the rules alone and compare with glibc's backtrace().
// Others compare every row of whole libraries' unwind tables with what readelf reads from them.
#include "tracker/capture/cfi.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/call_site.hpp"
#include "tests/tracker/fixture/frames.hpp"

using namespace vramscope;
using capture::FrameRule;

namespace {

struct Walk {
    std::vector<std::uintptr_t> walked;
    std::vector<std::uintptr_t> unwound;
    FrameRule::Kind last = FrameRule::Kind::plain;
};

std::uintptr_t word_at(std::uintptr_t address)
{
    std::uintptr_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

std::uintptr_t plus(std::uintptr_t address, std::int32_t offset)
{
    return address + static_cast<std::uintptr_t>(std::int64_t{offset});
}

void walk_from(const log::CallSite& site, Walk& walk)
{
    std::uintptr_t address = site.return_address, stack_pointer = site.frame;
    std::uintptr_t frame_pointer = word_at(site.frame - 16);
    while (walk.walked.size() < 400) {
        walk.walked.push_back(address);
        const FrameRule rule = capture::frame_rule(address);
        walk.last = rule.kind;
        if (rule.kind != FrameRule::Kind::plain)
            return;
        const std::uintptr_t frame =
            plus(rule.from_frame_pointer ? frame_pointer : stack_pointer, rule.frame_offset);
        address = word_at(plus(frame, rule.return_address_offset));
        if (rule.saves_frame_pointer)
            frame_pointer = word_at(plus(frame, rule.frame_pointer_offset));
        stack_pointer = frame;
    }
}

// Is called at the end of every chain.
[[gnu::noinline]] void take(void* result)
{
    const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
    Walk& walk = *static_cast<Walk*>(result);
    walk_from(site, walk);
    void* frames[400];
    void** const end = frames + ::backtrace(frames, 400);
    for (void** at = std::find(frames, end, reinterpret_cast<void*>(site.return_address));
         at != end; ++at)
        walk.unwound.push_back(reinterpret_cast<std::uintptr_t>(*at));
    VRAMSCOPE_TEST_KEEP_FRAME();
}

void expect_whole(const Walk& walk)
{
    EXPECT_EQ(walk.last, FrameRule::Kind::end);
    EXPECT_EQ(walk.walked, walk.unwound);
    EXPECT_GT(walk.walked.size(), 5u);
}

// The walk stopped where it said so, and all before was right.
void expect_stopped(const Walk& walk)
{
    EXPECT_EQ(walk.last, FrameRule::Kind::unsupported);
    ASSERT_LE(walk.walked.size(), walk.unwound.size());
    EXPECT_TRUE(std::equal(walk.walked.begin(), walk.walked.end(), walk.unwound.begin()));
}

using Shape = void (*)(test::Work, void*, int);
struct NamedShape {
    const char* flags;
    const char* name;
    Shape shape;
};

#define VRAMSCOPE_O0(name) NamedShape{"-O0", #name, &test::frames_o0::name},
#define VRAMSCOPE_O2(name) NamedShape{"-O2", #name, &test::frames_o2::name},
#define VRAMSCOPE_POINTER(name)                                                                    \
    NamedShape{"-fno-omit-frame-pointer", #name, &test::frames_pointer::name},
#define VRAMSCOPE_PUSH(name) NamedShape{"pushed arguments", #name, &test::frames_push::name},
const NamedShape kShapes[] = {VRAMSCOPE_FRAME_SHAPES(VRAMSCOPE_O0) VRAMSCOPE_FRAME_SHAPES(
    VRAMSCOPE_O2) VRAMSCOPE_FRAME_SHAPES(VRAMSCOPE_POINTER) VRAMSCOPE_FRAME_SHAPES(VRAMSCOPE_PUSH)};

bool is_realigned(const NamedShape& shape)
{
    return std::strncmp(shape.name, "realigned", 9) == 0;
}

Walk walk_below(Shape shape, int size)
{
    Walk walk;
    shape(&take, &walk, size);
    VRAMSCOPE_TEST_KEEP_FRAME();
    return walk;
}

struct Nested {
    const NamedShape* shapes;
    std::size_t left;
    Walk* walk;
};

void call_next(void* argument)
{
    auto& nested = *static_cast<Nested*>(argument);
    if (nested.left == 0)
        return take(nested.walk);
    const NamedShape& shape = nested.shapes[--nested.left];
    shape.shape(&call_next, &nested, 100);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

} // namespace

TEST(FrameRule, LeadsThroughEveryShapeOfFrame)
{
    for (const NamedShape& shape : kShapes) {
        for (const int size : {1, 40, 1000}) {
            SCOPED_TRACE(std::string(shape.flags) + " " + shape.name);
            const Walk walk = walk_below(shape.shape, size);
            if (is_realigned(shape) && walk.last != FrameRule::Kind::end)
                expect_stopped(walk);
            else
                expect_whole(walk);
        }
    }
}

TEST(FrameRule, LeadsThroughAllShapesAtOnce)
{
    std::vector<NamedShape> shapes;
    std::copy_if(std::begin(kShapes), std::end(kShapes), std::back_inserter(shapes),
                 [](const NamedShape& shape) { return !is_realigned(shape); });
    Walk walk;
    Nested nested{shapes.data(), shapes.size(), &walk};
    call_next(&nested);
    expect_whole(walk);
    EXPECT_GT(walk.walked.size(), 2 * shapes.size());
}

TEST(FrameRule, RefusesAFrameWithoutCallFrameInformation)
{
    Walk walk;
    test::frame_without_cfi(&take, &walk, 0);
    EXPECT_EQ(walk.last, FrameRule::Kind::unsupported);
    EXPECT_EQ(walk.walked.size(), 1u);
}

TEST(FrameRule, RefusesExpressionsAndOtherRegisters)
{
    for (const Shape shape :
         {&test::frame_by_expression, &test::frame_by_other_register, &test::frame_on_another_stack,
          &test::frame_with_pointer_in_register}) {
        const Walk walk = walk_below(shape, 0);
        EXPECT_EQ(walk.walked.size(), 1u);
        EXPECT_EQ(walk.unwound.size() > 5, true) << "the frame itself is sound";
        expect_stopped(walk);
    }
}

TEST(FrameRule, KnowsTheEndOfASignalHandler)
{
    static Walk walk;
    walk = {};
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { take(&walk); };
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    ::raise(SIGUSR1);
    ::sigaction(SIGUSR1, &before, nullptr);
    EXPECT_EQ(walk.last, FrameRule::Kind::signal);
    EXPECT_TRUE(std::equal(walk.walked.begin(), walk.walked.end(), walk.unwound.begin()));
    EXPECT_GT(walk.unwound.size(), walk.walked.size());
}

TEST(FrameRule, RefusesAddressesThatAreNoCode)
{
    int on_the_stack = 0;
    static int data = 0;
    for (const void* address :
         {static_cast<const void*>(nullptr), static_cast<const void*>(&on_the_stack),
          static_cast<const void*>(&data), reinterpret_cast<const void*>(UINTPTR_MAX),
          reinterpret_cast<const void*>(std::uintptr_t{1} << 47)})
        EXPECT_EQ(capture::frame_rule(reinterpret_cast<std::uintptr_t>(address)).kind,
                  FrameRule::Kind::unsupported);
}

// ---- against readelf, row by row ----

namespace {

struct TableRow {
    std::uintptr_t first;
    std::string cfa, frame_pointer, stack_pointer, return_address;
    bool signal;
};

std::string shell_output(const std::string& command)
{
    std::string text;
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
    char block[65536];
    while (std::size_t got = pipe ? std::fread(block, 1, sizeof block, pipe.get()) : 0)
        text.append(block, got);
    return text;
}

// Rows of `readelf --debug-dump=frames-interp`. If an address has several rows, the last counts.
std::vector<TableRow> readelf_rows(const std::string& path)
{
    std::vector<TableRow> rows;
    std::istringstream text(
        shell_output("readelf --wide --debug-dump=frames-interp '" + path + "' 2>/dev/null"));
    std::vector<std::string> columns;
    std::vector<std::string> signal_entries;
    bool signal = false, in_eh_frame = false, in_fde = false;
    std::uintptr_t end = 0;
    for (std::string line; std::getline(text, line);) {
        std::istringstream words(line);
        std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
        if (line.starts_with("Contents of the"))
            in_eh_frame = line.find(".eh_frame ") != line.npos;
        if (!in_eh_frame || cells.size() < 2)
            continue;
        if (cells.size() > 3 && cells[3] == "CIE") {
            in_fde = false;
            if (cells[4].find('S') != std::string::npos)
                signal_entries.push_back(cells[0]);
        } else if (cells.size() > 3 && cells[3] == "FDE") {
            in_fde = true;
            const std::string cie = cells[4].substr(4); // cie=00000000
            signal = std::any_of(
                signal_entries.begin(), signal_entries.end(), [&](const std::string& entry) {
                    return std::stoull(entry, nullptr, 16) == std::stoull(cie, nullptr, 16);
                });
            end = std::stoull(cells[5].substr(cells[5].find("..") + 2), nullptr, 16);
        } else if (cells[0] == "LOC") {
            columns = cells;
        } else if (in_fde && cells.size() == columns.size() && cells[0].size() == 16) {
            const auto cell = [&](const char* name) {
                const auto at = std::find(columns.begin(), columns.end(), name);
                return at == columns.end() ? std::string("u")
                                           : cells[static_cast<std::size_t>(at - columns.begin())];
            };
            const std::uintptr_t first = std::stoull(cells[0], nullptr, 16);
            if (!rows.empty() && rows.back().first == first)
                rows.pop_back();
            if (first < end)
                rows.push_back({first, cell("CFA"), cell("rbp"), cell("rsp"), cell("ra"), signal});
        }
    }
    return rows;
}

// The rule that a row stands for, in words; "unsupported" where frame_rule must not give one.
std::string wanted(const TableRow& row)
{
    // readelf writes "u" both for undefined and for never mentioned; for rbp these are the same.
    if (row.signal)
        return "unsupported";
    if (row.return_address == "u")
        return "end";
    const bool plain_frame = row.cfa.starts_with("rsp+") || row.cfa.starts_with("rbp+");
    const bool plain_pointer =
        row.frame_pointer == "u" || row.frame_pointer == "s" || row.frame_pointer.starts_with("c");
    if (!plain_frame || !plain_pointer || !row.return_address.starts_with("c") ||
        (row.stack_pointer != "u" && row.stack_pointer != "s"))
        return "unsupported";
    return row.cfa + " ra " + row.return_address + " rbp " +
           (row.frame_pointer.starts_with("c") ? row.frame_pointer : "same");
}

std::string given(const FrameRule& rule)
{
    const auto offset = [](std::int32_t value) {
        return (value < 0 ? "" : "+") + std::to_string(value);
    };
    switch (rule.kind) {
    case FrameRule::Kind::unsupported:
    case FrameRule::Kind::signal: // what it interrupted is not told by a table
        return "unsupported";
    case FrameRule::Kind::end:
        return "end";
    case FrameRule::Kind::plain:
        break;
    }
    return (rule.from_frame_pointer ? "rbp" : "rsp") + offset(rule.frame_offset) + " ra c" +
           offset(rule.return_address_offset) + " rbp " +
           (rule.saves_frame_pointer ? "c" + offset(rule.frame_pointer_offset) : "same");
}

void compare_whole_library(const void* address_in_it)
{
    Dl_info info;
    link_map* map = nullptr;
    ASSERT_NE(::dladdr1(address_in_it, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP), 0);
    const std::string path = *map->l_name ? map->l_name : "/proc/self/exe";
    const auto rows = readelf_rows(*map->l_name ? path : program_invocation_name);
    if (rows.empty())
        GTEST_SKIP() << "readelf reads no rows from " << path;
    std::size_t different = 0, plain = 0;
    for (const TableRow& row : rows) {
        // The rule for a call whose last byte is at the row's first address.
        const std::string rule = given(capture::frame_rule(map->l_addr + row.first + 1));
        plain += rule.starts_with("r");
        if (rule != wanted(row) && ++different <= 10)
            ADD_FAILURE() << path << " at 0x" << std::hex << row.first << ": rule " << rule
                          << ", readelf " << wanted(row);
    }
    EXPECT_EQ(different, 0u) << "of " << rows.size() << " rows";
    EXPECT_GT(plain, rows.size() / 2);
}

} // namespace

TEST(FrameRule, AgreesWithReadelfOnAllOfLibc)
{
    compare_whole_library(reinterpret_cast<const void*>(&::strlen));
}

TEST(FrameRule, AgreesWithReadelfOnAllOfLibstdcxx)
{
    compare_whole_library(::dlsym(RTLD_DEFAULT, "_ZSt9terminatev"));
}

TEST(FrameRule, AgreesWithReadelfOnAllOfThisProgram)
{
    compare_whole_library(reinterpret_cast<const void*>(&expect_whole));
}
