// tests/report/findings/places/stack_reader_test.cpp — functions of Python: callers, and origins.
#include "report/findings/places/stack_reader.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/tables_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;

constexpr std::uint64_t kNative = 7;
constexpr std::uint64_t kCalled = 8;
constexpr std::uint64_t kForward = 9;
constexpr std::uint64_t kBackward = 10;
constexpr std::uint64_t kHookAddress = 11;    // Python that the backward pass calls
constexpr std::uint64_t kMadeInBackward = 12; // in that Python
constexpr std::uint64_t kSecond = 13;
constexpr std::uint64_t kLeaf = 14;
constexpr std::uint64_t kOfLeaf = 15;
constexpr std::uint64_t kCircle = 16;

class PythonStacks : public testing::Test {
protected:
    PythonStacks()
    {
        const format::PythonFrame called[] = {{1, 1, 0}};
        const format::PythonFrame forward[] = {{0, 1, 0}, {0, 2, 0}};
        using format::PythonStack;
        LogBuilder log;
        log.module(1, 0, 0x1000, 0x9000, "/usr/lib/libtorch_cpu.so")
            .stack(kNative, {0x2000, 0x3000});
        log.add(format::PythonCode{1, format::LineTable::locations, 3, "/a/net.py", "forward", {}});
        log.add(format::PythonCode{2, format::LineTable::locations, 8, "/a/train.py", "step", {}});
        log.add(PythonStack{kCalled, kNative, 0, 0, 1, {called, {}}});
        log.add(PythonStack{kBackward, kNative, kForward, 0, 0, {}}); // its origin comes later
        log.add(PythonStack{kForward, 0, 0, PythonStack::kUnplaced, 2, {forward, {}}});
        log.add(PythonStack{kHookAddress, kCalled, kForward, 0, 0, {}});
        log.add(PythonStack{kMadeInBackward, kForward, kForward, 0, 0, {}});
        log.add(PythonStack{kSecond, kNative, kMadeInBackward, 0, 0, {}});
        log.add(PythonStack{kLeaf, 0, 0, PythonStack::kLeaf | PythonStack::kUnplaced, 0, {}});
        log.add(PythonStack{kOfLeaf, kNative, kLeaf, 0, 0, {}});
        log.add(PythonStack{kCircle, kNative, kCircle + 1, 0, 0, {}});
        log.add(PythonStack{kCircle + 1, kNative, kCircle, 0, 0, {}});
        tables_ = test::tables_of(log);
    }

    CallPlace read(std::uint64_t stack, ShownFrames shown = ShownFrames::own)
    {
        return StackReader(tables_, symbolizer_, shown).read(0, stack, 1);
    }

private:
    LogTables tables_;
    Symbolizer symbolizer_;
};

std::vector<std::string> functions_of(const CallPlace& place)
{
    std::vector<std::string> functions;
    for (const Frame& frame : place.stack)
        functions.push_back(frame.function);
    return functions;
}

using Functions = std::vector<std::string>;

TEST_F(PythonStacks, OfABackwardPassShowWhoseBackwardItIs)
{
    EXPECT_EQ(functions_of(read(kBackward)),
              (Functions{"backward of forward", "backward of step"}));
    EXPECT_EQ(functions_of(read(kBackward, ShownFrames::all)),
              (Functions{"", "", "backward of forward", "backward of step"}));
    EXPECT_EQ(functions_of(read(kCalled)), Functions{"forward"});
}

TEST_F(PythonStacks, OfABackwardPassAreOthersThanThoseOfTheForwardPass)
{
    EXPECT_NE(read(kBackward).fingerprint, read(kCalled).fingerprint);
    EXPECT_NE(read(kBackward).key(), read(kCalled).key());
}

TEST_F(PythonStacks, OfPythonThatABackwardPassCallsShowItsCallersFirst)
{
    EXPECT_EQ(functions_of(read(kHookAddress)),
              (Functions{"forward", "backward of forward", "backward of step"}));
}

TEST_F(PythonStacks, OfWhatABackwardPassMadeShowTheOriginsOfTheirOrigin)
{
    const std::string twice[] = {"backward of forward", "backward of step"};
    EXPECT_EQ(functions_of(read(kSecond)), (Functions{twice[0], twice[1], twice[0], twice[1]}));
}

TEST_F(PythonStacks, OfALeafsGradientSayThatAlone)
{
    EXPECT_EQ(functions_of(read(kOfLeaf)), Functions{"gradient of a leaf tensor"});
}

TEST_F(PythonStacks, ThatAreOriginsOfEachOtherAreNotBelieved)
{
    EXPECT_EQ(functions_of(read(kCircle)), Functions{});
    EXPECT_EQ(functions_of(read(kCircle + 1)), (Functions{"", ""}));
}

TEST_F(PythonStacks, ThatAreAnOriginHaveNoFramesOfTheirOwn)
{
    EXPECT_EQ(functions_of(read(kForward)), Functions{});
}

TEST(StackReader, TakesNamesFromTheLogBeforeItLooksIntoFiles)
{
    using format::FrameName;
    LogBuilder log;
    log.define_api("cuMemAlloc_v2").module(1, 0x1000, 0x1000, 0x9000, "/gone/train", "id");
    log.stack(1, {0x2001, 0x3001});
    log.add(FrameName{1, 0x1000, FrameName::kInlined, "inner", {}, "/a/net.cpp", 7, 5});
    log.add(FrameName{1, 0x1000, 0, "outer", {}, "/a/net.cpp", 9, 8});
    log.add(FrameName{1, 0x2000, FrameName::kNoUnwindTable, "main", {}, "/a/main.cpp", 3, 1});
    const LogTables tables = test::tables_of(log);
    Symbolizer symbolizer;
    const CallPlace place = StackReader(tables, symbolizer, ShownFrames::all).read(1, 1, 1);
    EXPECT_EQ(functions_of(place), (Functions{"inner", "outer", "main"}));
    EXPECT_EQ(place.stack.at(0).module, "/gone/train");
    EXPECT_EQ(place.stack.at(0).build_id, "id");
    EXPECT_EQ(place.stack.at(1).line, 9);
    EXPECT_TRUE(symbolizer.unread_files().empty()) << "nothing was looked for";
}

} // namespace
} // namespace vramscope::report
