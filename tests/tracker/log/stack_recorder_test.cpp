// tests/tracker/log/stack_recorder_test.cpp — each event has its own stack, unwound or recognised.
#include "tracker/log/stack_recorder.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"
#include "tracker/capture/unwinder.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::hooked_alloc;
using test::hooked_free;
using test::RecordedLog;
using test::Recording;

namespace {

const std::string kLibraries = VRAMSCOPE_FIXTURE_DIR;

// The name of the log's module that holds an address; empty if none does.
std::string module_of(const RecordedLog& log, std::uint64_t address)
{
    for (const DecodedRecord& module : log.all(Tag::module_loaded))
        if (address >= module.number("first") && address < module.number("end"))
            return module.text("path");
    return {};
}

} // namespace

TEST(Recorder, GivesAFreeTheStackOfItsCallUnlessToldNotTo)
{
    const auto body = [] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
    };
    const RecordedLog log = Recording().run(body);
    const auto frames = log.frames_of(log.all(Tag::free).at(0).number("stack"));
    ASSERT_GT(frames.size(), 3u);
    EXPECT_TRUE(module_of(log, frames[0]).ends_with("tracker_log_threads_tests"));

    Recording without;
    without.setting("VRAMSCOPE_FREE_STACKS", "off");
    EXPECT_EQ(without.run(body).all(Tag::free).at(0).number("stack"), 0u);
}

TEST(Recorder, GivesStacksOfThisProgramThroughItsModules)
{
    const RecordedLog log = Recording().run([] { hooked_alloc(256, 256); });
    const auto alloc = log.all(Tag::alloc).at(0);
    const auto frames = log.frames_of(alloc.number("stack"));
    ASSERT_GT(frames.size(), 3u);
    EXPECT_TRUE(module_of(log, frames[0]).ends_with("tracker_log_threads_tests"));
    for (const std::uint64_t frame : frames)
        EXPECT_NE(module_of(log, frame), "");
}

TEST(Recorder, TakesRepeatedStacksWithoutUnwindingThem)
{
    const RecordedLog log = Recording().run([] {
        std::thread([] {
            for (std::uint64_t i = 1; i <= 5000; ++i)
                hooked_alloc(i << 8, 256);
        }).join();
    });
    EXPECT_EQ(log.count(Tag::stack), 1u);
    EXPECT_EQ(log.header.verify_mismatches, 0u);
    EXPECT_GE(log.header.stacks_verified, 4900u);
    EXPECT_EQ(log.header.stacks_unwound, 1 + log.header.stacks_verified / log::kSelfCheckEvery)
        << "the first time, and at each check of itself";
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        ASSERT_EQ(alloc.number("stack"), 1u);
}

TEST(Recorder, UnwindsEveryStackIfVerificationIsOff)
{
    const RecordedLog log = Recording().setting("VRAMSCOPE_VERIFY", "off").run([] {
        for (std::uint64_t i = 1; i <= 500; ++i)
            hooked_alloc(i << 8, 256);
    });
    EXPECT_EQ(log.header.stacks_unwound, 500u);
    EXPECT_EQ(log.header.stacks_verified, 0u);
}

TEST(Recorder, TakesNoStacksIfThereIsNoUnwinder)
{
    const RecordedLog log = Recording().setting("VRAMSCOPE_UNWINDER", "none").run([] {
        for (std::uint64_t i = 1; i <= 10; ++i)
            hooked_alloc(i << 8, 256);
    });
    EXPECT_EQ(log.count(Tag::stack), 0u);
    EXPECT_EQ(log.count(Tag::alloc), 10u);
    EXPECT_EQ(log.info("unwinder"), "none");
}

TEST(Recorder, CutsStacksAtTheAskedDepth)
{
    const RecordedLog log =
        Recording().setting("VRAMSCOPE_STACK_DEPTH", "3").run([] { hooked_alloc(256, 256); });
    const auto stack = log.all(Tag::stack).at(0);
    EXPECT_EQ(stack.frames.size(), 3u);
    EXPECT_EQ(stack.number("flags"), format::Stack::kTruncated);
}

namespace {

constexpr std::uint32_t kLie = 400000;

// A hook that remembers a wrong id for its own stack, as a frame with a false unwind rule would
// make it do.
[[gnu::noinline]] void hooked_alloc_that_lies(std::uint64_t address, bool lie)
{
    const log::CallSite site = VRAMSCOPE_TEST_CALL_SITE();
    const test::InHook hook;
    if (!hook.ready())
        return;
    log::Thread& thread = log::this_thread;
    if (lie) {
        std::uintptr_t frames[64];
        bool truncated = false;
        const std::size_t count = capture::unwind(site.return_address, frames, 64, truncated);
        const std::uint64_t epoch = log::modules.unload_epoch();
        thread.stacks->find(site.frame, site.return_address, epoch);
        for (int time = 0; time < 2; ++time)
            thread.stacks->learn(site.frame, frames, count, truncated, kLie, epoch);
    }
    format::Alloc event{0, log::now(), address, 256, 0, {}};
    log::record_alloc(thread, event, {}, site);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

} // namespace

TEST(Recorder, NoticesAWrongStackTurnsVerificationOffAndSaysSo)
{
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t i = 1; i <= 3 * log::kSelfCheckEvery; ++i)
            hooked_alloc_that_lies(i << 8, i == 1);
    });
    EXPECT_EQ(log.header.verify_mismatches, 1u);
    const auto allocs = log.all(Tag::alloc);
    ASSERT_EQ(allocs.size(), 3 * log::kSelfCheckEvery);
    EXPECT_EQ(allocs.front().number("stack"), kLie) << "the lie was not told";
    const std::uint64_t last = allocs.back().number("stack");
    EXPECT_NE(last, kLie);
    EXPECT_FALSE(log.frames_of(last).empty());
    EXPECT_EQ(
        std::count_if(allocs.begin(), allocs.end(),
                      [](const DecodedRecord& alloc) { return alloc.number("stack") == kLie; }),
        static_cast<std::ptrdiff_t>(log::kSelfCheckEvery) - 1);
}

// ---- libraries that come and go ----

namespace {

void alloc_below(void* address)
{
    hooked_alloc(reinterpret_cast<std::uintptr_t>(address), 256);
}

// Calls hooked_alloc through the library, and unloads it as the hooked dlclose does.
void alloc_through(const char* library_name, std::uint64_t address)
{
    void* library = ::dlopen((kLibraries + "/" + library_name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    using Call = int (*)(void (*)(void*), void*, int);
    const auto call = reinterpret_cast<Call>(::dlsym(library, "library_call"));
    for (int time = 0; time < 5; ++time)
        call(&alloc_below, reinterpret_cast<void*>(address), 3);
    ::dlclose(library);
    log::code_unloaded();
}

} // namespace

TEST(Recorder, TellsStacksThroughReplacedLibrariesApart)
{
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t round = 0; round < 3; ++round) {
            alloc_through("liblayout_a.so", 0xa00);
            alloc_through("liblayout_b.so", 0xb00);
        }
    });
    std::map<std::uint64_t, std::set<std::uint64_t>> stacks;
    for (const DecodedRecord& alloc : log.all(Tag::alloc)) {
        const auto frames = log.frames_of(alloc.number("stack"));
        EXPECT_GT(frames.size(), 8u) << "the stack through the library was cut";
        stacks[alloc.number("address")].insert(alloc.number("stack"));
    }
    for (const std::uint64_t a : stacks[0xa00])
        EXPECT_FALSE(stacks[0xb00].contains(a)) << "one stack id for two libraries";
    std::map<std::string, int> loaded;
    for (const DecodedRecord& module : log.all(Tag::module_loaded))
        ++loaded[module.text("path").substr(module.text("path").rfind('/') + 1)];
    EXPECT_EQ(loaded["liblayout_a.so"], 3);
    EXPECT_EQ(loaded["liblayout_b.so"], 3);
    EXPECT_GE(log.count(Tag::module_gone), 5u);
}
