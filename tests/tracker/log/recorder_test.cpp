// tests/tracker/log/recorder_test.cpp — the log says what one thread or eight recorded.
#include "tracker/log/recorder.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

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

std::uint64_t lost(const RecordedLog& log)
{
    return std::accumulate(std::begin(log.header.lost), std::end(log.header.lost),
                           std::uint64_t{0});
}

} // namespace

TEST(Recorder, WritesEveryKindOfEventAsItWas)
{
    const RecordedLog log = Recording().run([] {
        const format::Place place{3, 1, 0x5500, 0x6600, true};
        hooked_alloc(0x7f0000000000, 4096, place);
        hooked_alloc(0x7f0000001040, 1001, place);
        hooked_free(0x7f0000000000);
        const test::InHook hook;
        log::Thread& thread = log::this_thread;
        const log::CallSite site{0, 0};
        log::write_with_stack(thread, site, 0, format::Failed{2, 0x123, std::uint64_t{1} << 40});
        log::write_with_stack(thread, site, 2, format::Map{0x300000000, 1 << 21, 77});
        log::write(thread, {123456, 2}, format::Unmap{0x300000000, 1 << 21});
        log::write(thread, {log::now(), 2}, format::Retain{77});
        log::write(thread, format::Context{3, 0xc0ffee, -1, true});
        log::write(thread, {123457, 2}, format::ContextGone{3, log::record_stack(thread, site)});
        log::write(thread, format::Device{1, 24ull << 30, "Sim"});
        log::write(thread, format::Info{"key", std::string(10000, 'v')});
    });
    const auto allocs = log.all(Tag::alloc);
    ASSERT_EQ(allocs.size(), 2u);
    EXPECT_EQ(allocs[0].number("address"), 0x7f0000000000u);
    EXPECT_EQ(allocs[0].number("bytes"), 4096u);
    EXPECT_EQ(allocs[1].number("address"), 0x7f0000001040u);
    EXPECT_EQ(allocs[1].number("bytes"), 1001u);
    EXPECT_EQ(allocs[1].place, (format::Place{3, 1, 0x5500, 0x6600, true}));
    EXPECT_EQ(log.count(Tag::place), 1u);
    EXPECT_GT(allocs[1].number("ticks"), allocs[0].number("ticks"));

    const auto one = [&](Tag tag) {
        const auto found = log.all(tag);
        EXPECT_EQ(found.size(), 1u) << static_cast<int>(tag);
        return found.at(0);
    };
    EXPECT_EQ(one(Tag::free).number("address"), 0x7f0000000000u);
    EXPECT_EQ(one(Tag::failed).number("result"), 2u);
    EXPECT_EQ(one(Tag::failed).number("bytes"), std::uint64_t{1} << 40);
    EXPECT_EQ(one(Tag::failed).number("stack"), 0u) << "the call site was not on the stack";
    EXPECT_EQ(one(Tag::map).number("handle"), 77u);
    EXPECT_EQ(one(Tag::unmap).number("ticks"), 123456u);
    EXPECT_EQ(one(Tag::retain).number("handle"), 77u);
    EXPECT_EQ(static_cast<std::int64_t>(one(Tag::context).number("device")), -1);
    EXPECT_EQ(one(Tag::context_gone).number("ticks"), 123457u);
    EXPECT_EQ(one(Tag::context_gone).number("stack"), 0u) << "the call site was not on the stack";
    EXPECT_EQ(one(Tag::device).text("name"), "Sim");
    EXPECT_EQ(log.info("key"), std::string(4096, 'v')) << "texts are cut at 4096 bytes";
    EXPECT_EQ(lost(log), 0u);
}

TEST(Recorder, GivesAFreeTheStackOfItsCallUnlessToldNotTo)
{
    const auto body = [] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
    };
    const RecordedLog log = Recording().run(body);
    const auto frames = log.frames_of(log.all(Tag::free).at(0).number("stack"));
    ASSERT_GT(frames.size(), 3u);
    EXPECT_TRUE(module_of(log, frames[0]).ends_with("recorder_test"));

    Recording without;
    without.setting("VRAMSCOPE_FREE_STACKS", "off");
    EXPECT_EQ(without.run(body).all(Tag::free).at(0).number("stack"), 0u);
}

TEST(Recorder, LeavesAFreeThatTheDriverHasWhenTheProcessIsKilled)
{
    const Recording recording;
    const pid_t child = recording.start([] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
        const test::InHook hook;
        format::Free event{.api = 1, .ticks = 0, .address = 0x2000, .stack = 0};
        log::begin_free(log::this_thread, event, VRAMSCOPE_TEST_CALL_SITE());
        ::raise(SIGKILL);
    });
    EXPECT_NE(test::wait_for(child), 0);
    const RecordedLog log = recording.log();
    ASSERT_EQ(log.chunks.size(), 1u);
    EXPECT_EQ(log.chunks[0].pending_api, 2u);
    EXPECT_EQ(log.chunks[0].pending_address, 0x2000u);
    EXPECT_GE(log.chunks[0].pending_ticks, log.all(Tag::free).at(0).number("ticks"));
    EXPECT_GT(log.frames_of(log.chunks[0].pending_stack).size(), 3u);
}

TEST(Recorder, LeavesNoPendingFreeOnceItIsWrittenOrRefused)
{
    const RecordedLog log = Recording().run([] {
        hooked_alloc(0x1000, 256);
        hooked_free(0x1000);
        const test::InHook hook;
        format::Free event{.api = 1, .ticks = 0, .address = 0x2000, .stack = 0};
        log::begin_free(log::this_thread, event, VRAMSCOPE_TEST_CALL_SITE());
        log::abandon_free(log::this_thread);
    });
    ASSERT_EQ(log.chunks.size(), 1u);
    EXPECT_EQ(log.chunks[0].pending_api, 0u);
    EXPECT_EQ(log.count(Tag::free), 1u);
}

TEST(Recorder, SaysWhatItRecordedAndHow)
{
    const Recording recording;
    const RecordedLog log = recording.run([] { hooked_alloc(256, 256); });
    EXPECT_EQ(log.header.major, format::kMajorVersion);
    EXPECT_EQ(log.header.parent_pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_NE(log.header.process_start, 0u);
    EXPECT_EQ(log.header.threads, 1u);
    EXPECT_GE(log.header.latest_ns, log.header.start_ns);
    EXPECT_EQ(log.header.end, format::End::unknown);
    EXPECT_EQ(log.info("program"), program_invocation_short_name);
    EXPECT_EQ(log.info("unwinder"), test::kTestUnwinder);
    EXPECT_EQ(log.info("stack_depth"), "64");
    EXPECT_EQ(log.info("exe").substr(0, 1), "/");
    const auto apis = log.all(Tag::api);
    ASSERT_EQ(apis.size(), std::size(test::kTestApis));
    for (std::size_t id = 0; id < apis.size(); ++id) {
        EXPECT_EQ(apis[id].number("id"), id);
        EXPECT_EQ(apis[id].text("name"), test::kTestApis[id].name);
        EXPECT_EQ(apis[id].number("effect"),
                  static_cast<std::uint64_t>(test::kTestApis[id].effect));
    }
}

TEST(Recorder, GivesStacksOfThisProgramThroughItsModules)
{
    const RecordedLog log = Recording().run([] { hooked_alloc(256, 256); });
    const auto alloc = log.all(Tag::alloc).at(0);
    const auto frames = log.frames_of(alloc.number("stack"));
    ASSERT_GT(frames.size(), 3u);
    EXPECT_TRUE(module_of(log, frames[0]).ends_with("recorder_test"));
    for (const std::uint64_t frame : frames)
        EXPECT_NE(module_of(log, frame), "");
}

TEST(Recorder, KeepsAllEventsOfEightThreadsOverManyChunks)
{
    constexpr std::uint64_t kThreads = 8, kEvents = 40000;
    const RecordedLog log = Recording().run([] {
        std::vector<std::thread> threads;
        for (std::uint64_t t = 0; t < kThreads; ++t)
            threads.emplace_back([t] {
                for (std::uint64_t i = 0; i < kEvents; ++i) {
                    const std::uint64_t address = (t << 40) + (i + 1) * 256;
                    hooked_alloc(address, i + 1,
                                 {1, static_cast<std::int64_t>(t), i / 1000, 0, false});
                    if (i % 2)
                        hooked_free(address);
                }
            });
        for (std::thread& thread : threads)
            thread.join();
    });
    EXPECT_EQ(lost(log), 0u);
    EXPECT_EQ(log.header.threads, kThreads);
    EXPECT_GT(log.chunks.size(), 2 * kThreads);
    std::map<std::uint32_t, std::uint64_t> next_ordinal, next_bytes, ticks, frees;
    for (const auto& chunk : log.chunks)
        EXPECT_EQ(chunk.ordinal, next_ordinal[chunk.lane]++);
    for (const DecodedRecord& record : log.records) {
        if (record.tag() == Tag::free)
            ++frees[record.thread];
        if (record.tag() != Tag::alloc)
            continue;
        const std::uint64_t bytes = record.number("bytes");
        ASSERT_EQ(bytes, ++next_bytes[record.thread]);
        const auto t = static_cast<std::uint64_t>(record.place.device);
        ASSERT_EQ(record.number("address"), (t << 40) + bytes * 256);
        ASSERT_EQ(record.place.stream, (bytes - 1) / 1000);
        ASSERT_GE(record.number("ticks"), ticks[record.thread]);
        ticks[record.thread] = record.number("ticks");
    }
    EXPECT_EQ(next_bytes.size(), kThreads);
    for (const auto& [thread, bytes] : next_bytes) {
        EXPECT_EQ(bytes, kEvents);
        EXPECT_EQ(frees[thread], kEvents / 2);
    }
}

TEST(Recorder, WritesThePlaceAgainInEveryChunk)
{
    const RecordedLog log = Recording().run([] {
        for (std::uint64_t i = 1; i <= 40000; ++i)
            hooked_alloc(i << 20, i, {5, 0, 7, 0, false});
    });
    ASSERT_GT(log.chunks.size(), 1u);
    EXPECT_EQ(log.count(Tag::place), log.chunks.size());
    for (const DecodedRecord& alloc : log.all(Tag::alloc))
        ASSERT_EQ(alloc.place, (format::Place{5, 0, 7, 0, false}));
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
    EXPECT_EQ(log.header.stacks_unwound, 2 + log.header.stacks_verified / log::kSelfCheckEvery)
        << "the first two times, and at each check of itself";
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
    log::record_alloc(thread, {0, log::now(), address, 256, 0, {}}, {}, site);
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

// ---- ranges and marks ----

TEST(Ranges, OpenedBeforeTheLogAreInIt)
{
    const RecordedLog log = Recording().run([] {
        log::push_range("outer");
        log::push_range("closed");
        log::pop_range();
        log::push_range("");
        log::mark("no log yet: dropped");
        hooked_alloc(256, 256);
        log::mark("seen");
        log::pop_range();
        log::push_range("later");
    });
    const auto pushes = log.all(Tag::range_push);
    ASSERT_EQ(pushes.size(), 3u);
    EXPECT_EQ(pushes[0].text("name"), "outer");
    EXPECT_EQ(pushes[1].text("name"), "");
    EXPECT_EQ(pushes[2].text("name"), "later");
    EXPECT_EQ(log.count(Tag::range_pop), 1u);
    ASSERT_EQ(log.count(Tag::mark), 1u);
    EXPECT_EQ(log.all(Tag::mark)[0].text("name"), "seen");
}

TEST(Ranges, AloneMakeNoLog)
{
    const Recording recording;
    EXPECT_EQ(test::wait_for(recording.start([] {
                  for (int i = 0; i < 1000; ++i) {
                      log::push_range("step");
                      log::mark("step");
                      log::pop_range();
                  }
                  log::pop_range();
              })),
              0);
    EXPECT_TRUE(recording.dir().names().empty());
}

TEST(Ranges, KeepTheirDepthWhereTheirNamesFindNoRoom)
{
    const std::string name(300, 'n');
    const RecordedLog log = Recording().run([&] {
        for (int i = 0; i < 50; ++i)
            log::push_range(name);
        for (int i = 0; i < 10; ++i)
            log::pop_range();
        hooked_alloc(256, 256);
    });
    const auto pushes = log.all(Tag::range_push);
    EXPECT_EQ(pushes.size(), 40u);
    EXPECT_EQ(pushes.front().text("name"), name.substr(0, 255));
    EXPECT_EQ(pushes.back().text("name"), "…");
}

TEST(Ranges, OfThreadsThatEndBeforeTheLogTakeNoMemory)
{
    const auto pages_after_threads = [](int threads) {
        for (int i = 0; i < threads; ++i)
            std::thread([] { log::push_range("never closed"); }).join();
        long pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        return pages;
    };
    const Recording recording;
    EXPECT_EQ(test::wait_for(recording.start([&] {
                  const long before = pages_after_threads(1);
                  std::_Exit(pages_after_threads(1000) - before < 100 ? 0 : 1);
              })),
              0);
}

TEST(Ranges, OfAnotherThreadBelongToIt)
{
    const RecordedLog log = Recording().run([] {
        hooked_alloc(256, 256);
        log::push_range("main");
        std::thread([] {
            log::push_range("worker");
            hooked_alloc(512, 256);
        }).join();
    });
    std::map<std::string, std::uint32_t> threads;
    for (const DecodedRecord& push : log.all(Tag::range_push))
        threads[push.text("name")] = push.thread;
    EXPECT_EQ(threads, (std::map<std::string, std::uint32_t>{{"main", 0}, {"worker", 1}}));
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
