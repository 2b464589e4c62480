// tests/report/exporters/events_test.cpp — a log as JSON lines: each record, and their order.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "tests/support/report_of.hpp"
#include "tests/support/schema_check.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::TempFile;
using test::operator""_MiB;
using Json = nlohmann::json;

std::string text_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    std::string text;
    export_events(file.path(), [&](std::string_view piece) { text += piece; });
    return text;
}

std::vector<Json> lines_of(const LogBuilder& log)
{
    std::vector<Json> lines;
    const std::string text = text_of(log);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(Json::parse(text.substr(at, end - at)));
        at = end + 1;
    }
    return lines;
}

std::vector<Json> of_type(const std::vector<Json>& lines, const std::string& type)
{
    std::vector<Json> found;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
                 [&](const Json& line) { return line["type"] == type; });
    return found;
}

std::vector<std::string> types_of(const std::vector<Json>& lines)
{
    std::vector<std::string> types;
    for (const Json& line : lines)
        types.push_back(line["type"]);
    return types;
}

// Every kind of record that there is.
LogBuilder everything()
{
    LogBuilder log;
    log.info("program", "all \"of\" it\n\xff").info("pool.mode", "cache");
    log.thread_name(41, "main").device(0, 24_MiB, "Sim \x1b[31m").context(1);
    log.module(3, 0x400000, 0x400000, 0x500000, "/no/such/program", "\xab\xcd");
    log.stack(7, {0x401136, 0x401152}).stack(8, {0x401200}, true);
    log.place({.context = 1, .device = 0, .stream = 0x55d0, .pool = 0x66, .capturing = false});
    log.push("epoch").alloc(0x7f0000000000, 3'000'000'007, 7).mark("half \xe2\x82\xac");
    log.pool(0x66, 2).alloc(0x7f0100000000, 100, 8, "cuMemAllocAsync");
    log.segment(0x7f0200000000, 2_MiB).pooled(0x7f0200000000, 1_MiB, 512, 7);
    log.failed(2, 1_MiB, "cuMemAlloc_v2", 7).retried(1_MiB, 2);
    log.out_of_memory({0, 1, 2, 3, 4, 5, 6}).reusable(500).shared(0x7f0000000000);
    log.map(0x7f0300000000, 2_MiB, 0x99).unmap(0x7f0300000000, 2_MiB).retain(0x99).trim(0x66, 10);
    log.damaged(format::Damage::underrun, 0x7f0200000000, -4, 2, 8);
    log.free(0x7f0000000000, "cuMemFree_v2", 8).segment_gone(0x7f0200000000).context_gone(1, 8);
    log.object_memory(0x1000, "cuModuleLoad", 64, 32, 128)
        .mempool_memory(0x1000, 64, 32)
        .device_memory(5, 10)
        .driver_time("cuMemAlloc_v2", 64, 192000, 9000);
    log.blocks_gone("cuMemAlloc_v2", 0x7f0000000000, 10);
    log.add(format::CutFrom{1, 0x7f0000000000, 10, format::BlockSize::large});
    log.add(format::Awaited{1, 0x7f0000000000, true}).add(format::SizeUnknown{1, 0x7f0000000000});
    log.blocks_pending("cuMemAlloc_v2", 10).block_name("cuMemAlloc_v2", 0x7f0000000000, "kv");
    log.add(format::ContextOpened{1, 1, format::Opening::retained, 3, 2, 4, 7});
    log.add(format::Searched{4096, true, ""});
    log.add(format::Reached{1, 7, format::Memory::device, 0, format::Reach::held, 10, 1, "`a`"});
    log.add(format::Test{format::TestState::passed, "Tensor.Copies"});
    log.module_gone(3).pop().pending_free(0x7f0100000000, 8);
    return log;
}

TEST(Events, BeginWithAHeaderAndEndWithATrailer)
{
    LogBuilder log = everything();
    log.header().pid = 77;
    log.header().lost[0] = 3;
    const std::vector<Json> lines = lines_of(log);
    EXPECT_EQ(lines.front()["type"], "header");
    EXPECT_EQ(lines.front()["pid"], 77);
    EXPECT_EQ(lines.front()["info"][1], (Json{{"key", "pool.mode"}, {"value", "cache"}}));
    const Json& trailer = lines.back();
    EXPECT_EQ(trailer["type"], "trailer");
    EXPECT_EQ(trailer["end"], "exited");
    EXPECT_EQ(trailer["lost"]["no-space"], 3);
    EXPECT_EQ(trailer["lost_events"], 3);
    EXPECT_EQ(trailer["truncated"], false);
    ASSERT_EQ(trailer["pending_frees"].size(), 1u);
    EXPECT_EQ(trailer["pending_frees"][0]["address"], "0x7f0100000000");
    const std::size_t events = std::count_if(lines.begin(), lines.end(),
                                             [](const Json& line) { return line.contains("ns"); });
    EXPECT_EQ(trailer["events"], events);
}

TEST(Events, HaveExactNumbersAndHexAddresses)
{
    const std::vector<Json> lines = lines_of(everything());
    const Json alloc = of_type(lines, "alloc")[0];
    EXPECT_EQ(alloc["address"], "0x7f0000000000");
    EXPECT_EQ(alloc["bytes"], 3'000'000'007u);
    EXPECT_EQ(alloc["memory"], "device");
    EXPECT_EQ(alloc["device"], 0);
    EXPECT_EQ(alloc["stream"], "0x55d0");
    EXPECT_EQ(alloc["pooled"], false);
    EXPECT_EQ(of_type(lines, "alloc")[1]["memory"], "pinned"); // its pool lies on the host
    EXPECT_EQ(of_type(lines, "alloc")[2]["slack"], 512);
    EXPECT_EQ(of_type(lines, "damaged")[0]["offset"], -4);
    EXPECT_EQ(of_type(lines, "out_of_memory")[0]["largest_gap"], 6);
    EXPECT_EQ(of_type(lines, "context_gone")[0]["context"], 1);
    EXPECT_EQ(of_type(lines, "context_gone")[0]["stack"], 8);
    EXPECT_EQ(of_type(lines, "mark")[0]["name"], "half \u20ac");
}

// Events are the log's own: a block's memory says that it lies in another allocation.
TEST(Events, HaveEachBlockAndWhatItWasCutFromOnce)
{
    const std::vector<Json> lines = lines_of(test::program_that_cuts());
    std::map<std::string, std::uint64_t> bytes;
    for (const Json& alloc : of_type(lines, "alloc"))
        bytes[alloc["memory"]] += alloc["bytes"].get<std::uint64_t>();
    EXPECT_EQ(bytes,
              (std::map<std::string, std::uint64_t>{{"device", 25_MiB}, {"suballocated", 7_MiB}}));
    EXPECT_EQ(of_type(lines, "free").size(), 1u);
}

TEST(Events, DefineWhatTheyNameBeforeTheyNameItAndOnce)
{
    const std::vector<Json> lines = lines_of(everything());
    std::vector<Json> apis, stacks;
    for (const Json& line : lines) {
        const auto names = [&](const char* what, std::vector<Json>& defined) {
            if (line["type"] == what) {
                defined.push_back(line["id"]);
            } else if (line.contains(what) && line[what] != 0) {
                EXPECT_EQ(std::count(defined.begin(), defined.end(), line[what]), 1) << line;
            }
        };
        names("api", apis);
        names("stack", stacks);
    }
    EXPECT_EQ(stacks.size(), 2u);
}

TEST(Events, HaveTheirStacksWithAllFrames)
{
    const std::vector<Json> lines = lines_of(everything());
    const Json stack = of_type(lines, "stack")[0];
    EXPECT_EQ(stack["id"], 7);
    EXPECT_EQ(stack["truncated"], false);
    ASSERT_EQ(stack["frames"].size(), 2u);
    EXPECT_EQ(stack["frames"][0]["module"], "/no/such/program");
    EXPECT_EQ(stack["frames"][0]["offset"], "0x1135"); // inside the call, not after it
    EXPECT_EQ(stack["first_visible"], 0);
    EXPECT_EQ(stack["visible"], 2);
}

// The module of a stack may be written down after the stack's first use.
TEST(Events, NameAStackByAModuleThatComesLater)
{
    LogBuilder log;
    log.stack(7, {0x401136}).alloc(0x7f0000000000, 1, 7);
    log.module(3, 0x400000, 0x400000, 0x500000, "/late");
    EXPECT_EQ(of_type(lines_of(log), "stack")[0]["frames"][0]["module"], "/late");
}

TEST(Events, OfAllThreadsComeInTheOrderOfTheirTimes)
{
    LogBuilder log;
    log.thread(0).at(5'000'000).alloc(0x1000, 1).thread(1).at(3'000'000).alloc(0x2000, 1);
    const std::vector<Json> allocs = of_type(lines_of(log), "alloc");
    ASSERT_EQ(allocs.size(), 2u);
    EXPECT_EQ(allocs[0]["address"], "0x2000");
    EXPECT_EQ(allocs[0]["thread"], 1);
    EXPECT_LT(allocs[0]["ns"], allocs[1]["ns"]);
}

TEST(Events, WithAMalformedBodyHaveNoLineAndAreCounted)
{
    LogBuilder log;
    log.alloc(0x1000, 1).record(0x2f, {0, 0}).free(0x1000); // a retain without its handle
    const std::vector<Json> lines = lines_of(log);
    EXPECT_TRUE(of_type(lines, "retain").empty());
    EXPECT_EQ(of_type(lines, "free").size(), 1u);
    EXPECT_EQ(lines.back()["damaged_chunks"], 1);
}

TEST(Events, OfACutLogAreThoseThatAreThere)
{
    LogBuilder log;
    for (std::uint64_t at = 0; at < 100; ++at)
        log.alloc(0x1000 + at * 256, 256);
    TempFile file(log.build());
    file.resize(log.chunk_offset(0) + 500);
    std::string text;
    export_events(file.path(), [&](std::string_view piece) { text += piece; });
    EXPECT_NE(text.find(R"("truncated":true)"), std::string::npos);
    EXPECT_NE(text.find(R"("type":"alloc")"), std::string::npos);
}

TEST(Events, OfWhatIsNoLogAreAnError)
{
    const TempFile file(test::Bytes(10000, 'x'));
    EXPECT_THROW(export_events(file.path(), [](std::string_view) {}), Error);
}

TEST(Events, AreOneLineOfAsciiEach)
{
    const std::string text = text_of(everything());
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                            [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n'; }));
}

TEST(Events, FollowTheSchema)
{
    EXPECT_EQ(test::check_schema("events", text_of(everything()), ".jsonl"), 0);
}

TEST(Events, OfTheSchemaAreAllWritten)
{
    std::vector<std::string> written = types_of(lines_of(everything()));
    std::sort(written.begin(), written.end());
    written.erase(std::unique(written.begin(), written.end()), written.end());
    const Json schema = test::schema("events");
    std::vector<std::string> known = schema["properties"]["type"]["enum"];
    std::sort(known.begin(), known.end());
    EXPECT_EQ(written, known);
    // The header has what is of `info`, and the lines of stacks what is of Python and of frames.
    const std::set<format::Tag> inside = {format::Tag::info, format::Tag::python_code,
                                          format::Tag::python_stack, format::Tag::frame_name};
    for (const format::Layout& layout : format::Records::kLayouts)
        if (!inside.contains(layout.tag)) {
            EXPECT_TRUE(std::binary_search(known.begin(), known.end(), layout.name)) << layout.name;
        }
}

// A log may hold any number where a word is meant.
TEST(Events, WithNumbersThatHaveNoWordFollowTheSchema)
{
    LogBuilder log;
    constexpr std::uint8_t kNone = 200;
    log.add(format::SegmentGone{0x1000, format::SegmentEnd{kNone}});
    log.add(format::Damaged{format::Damage{kNone}, 0x1000, 1, 1, 0});
    log.add(format::CutFrom{1, 0x1000, 10, format::BlockSize{kNone}});
    log.add(format::Test{format::TestState{kNone}, "Tensor.Copies"});
    const std::string text = text_of(log);
    EXPECT_NE(text.find(R"("blocks":"unknown")"), std::string::npos) << text;
    EXPECT_EQ(test::check_schema("events", text, ".jsonl"), 0);
}

TEST(Schemas, NameEveryKindOfMemory)
{
    std::vector<std::string> kinds;
    for (const format::MemoryKind& kind : format::kMemoryKinds)
        kinds.emplace_back(kind.name);
    std::sort(kinds.begin(), kinds.end());
    for (const char* name : {"events", "report"}) {
        std::vector<std::string> known = test::schema(name)["$defs"]["memory"]["enum"];
        std::sort(known.begin(), known.end());
        EXPECT_EQ(known, kinds) << name;
    }
}

TEST(Events, ThatAreWrongAreRefusedByTheSchema)
{
    std::string wrong;
    std::size_t lines = 0;
    const auto add = [&](const Json& line) {
        wrong += line.dump() + '\n';
        ++lines;
    };
    const std::vector<Json> right = lines_of(everything());
    for (const Json& line : right) {
        for (const auto& [key, value] : line.items()) {
            Json worse = line;
            worse.erase(key); // each member is always there
            add(worse);
        }
        Json more = line;
        more["unnamed"] = 1;
        add(more);
    }
    const std::initializer_list<std::pair<const char*, Json>> values = {
        {"bytes", -1},       {"bytes", 1.5},      {"bytes", "1"},    {"address", 4096},
        {"address", "1000"}, {"device", -1},      {"device", "0"},   {"memory", "vram"},
        {"type", "malloc"},  {"pooled", "false"}, {"stack", nullptr}};
    for (const auto& [key, value] : values) {
        Json worse = of_type(right, "alloc")[0];
        worse[key] = value;
        add(worse);
    }
    EXPECT_EQ(test::invalid_lines("events", wrong + "{\n[]\n"), lines + 2);
}

} // namespace
} // namespace vramscope::report
