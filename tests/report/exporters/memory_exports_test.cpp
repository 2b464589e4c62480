// tests/report/exporters/memory_exports_test.cpp — the heaptrack and pprof files of made-up logs.
//
// Their texts are exact, and their sums are those of the report, whatever the log says.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "report/exporters/exporters.hpp"
#include "report/exporters/protobuf.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::TempFile;

using Export = void (*)(const std::filesystem::path&, const Sink&, const ExportOptions&);

std::string exported(Export write, const LogBuilder& log, const ExportOptions& options = {})
{
    const TempFile file(log.build());
    std::string text;
    write(
        file.path(), [&](std::string_view piece) { text += piece; }, options);
    return text;
}

// What heaptrack_print makes of the file, by its rules and in its order.
struct HeaptrackSums {
    std::uint64_t allocations = 0;
    std::uint64_t temporary = 0;
    std::uint64_t leaked = 0;
    std::uint64_t peak = 0;
    std::uint64_t ms = 0;

    explicit HeaptrackSums(const std::string& text)
    {
        std::istringstream lines(text);
        std::vector<std::uint64_t> sizes;
        std::uint64_t last = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line.substr(1));
            std::uint64_t number = 0;
            fields >> std::hex >> number;
            if (line[0] == 'a') {
                sizes.push_back(number);
            } else if (line[0] == '+') {
                ++allocations;
                leaked += sizes.at(number);
                peak = std::max(peak, leaked);
                last = number;
            } else if (line[0] == '-') {
                leaked -= sizes.at(number);
                temporary += last == number;
                last = 0;
            } else if (line[0] == 'c') {
                EXPECT_GT(number, ms);
                ms = number;
            }
        }
    }
};

// What a reader of the lines adds up, and what device memory there was at most.
struct BlockSums {
    std::array<std::uint64_t, 4> sums{}; // as sums_of()
    std::uint64_t peak = 0;

    explicit BlockSums(const std::string& text)
    {
        std::istringstream lines(text);
        std::map<std::uint64_t, std::int64_t> changes; // by time
        std::string line;
        for (std::getline(lines, line); std::getline(lines, line);) {
            std::vector<std::string> fields(1);
            for (const char c : line.substr(0, line.find('"')))
                c == ',' ? fields.emplace_back() : fields.back() += c;
            const std::uint64_t bytes = std::stoull(fields.at(3));
            const bool leaked = fields.at(2) == "alive" || fields.at(2) == "context";
            sums = {sums[0] + 1, sums[1] + bytes, sums[2] + leaked, sums[3] + (leaked ? bytes : 0)};
            EXPECT_EQ(fields.at(1).empty(), fields.at(2) == "alive") << line;
            if (fields.at(5) == "pinned")
                continue;
            changes[std::stoull(fields.at(0))] += static_cast<std::int64_t>(bytes);
            if (!fields.at(1).empty())
                changes[std::stoull(fields.at(1))] -= static_cast<std::int64_t>(bytes);
        }
        std::int64_t now = 0;
        for (const auto& [ns, change] : changes)
            peak = std::max(peak, static_cast<std::uint64_t>(now += change));
    }
};

std::string unzipped(const std::string& text)
{
    z_stream z{};
    EXPECT_EQ(::inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    std::string out;
    std::array<char, 4096> piece;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    int result = Z_OK;
    while (result == Z_OK) {
        z.next_out = reinterpret_cast<Bytef*>(piece.data());
        z.avail_out = piece.size();
        result = ::inflate(&z, Z_NO_FLUSH);
        out.append(piece.data(), piece.size() - z.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    ::inflateEnd(&z);
    return out;
}

// The fields of a message: numbers and bytes, in their order.
struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string bytes;
};
std::vector<Field> fields_of(const std::string& message)
{
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(message.data());
    format::Cursor in(begin, begin + message.size());
    std::vector<Field> fields;
    while (!in.at_end()) {
        const std::uint64_t key = in.varint();
        Field field{key >> 3, 0, {}};
        if ((key & 7) == 0)
            field.value = in.varint();
        else
            field.bytes = in.prefixed_text();
        EXPECT_TRUE(in.ok() && ((key & 7) == 0 || (key & 7) == 2));
        fields.push_back(std::move(field));
    }
    return fields;
}

std::array<std::uint64_t, 4> pprof_sums(const std::string& file)
{
    std::array<std::uint64_t, 4> sums{};
    for (const Field& field : fields_of(unzipped(file))) {
        if (field.number != 2)
            continue;
        const std::vector<Field> sample = fields_of(field.bytes);
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(sample.at(1).bytes.data());
        format::Cursor values(begin, begin + sample.at(1).bytes.size());
        for (std::uint64_t& sum : sums)
            sum += values.varint();
    }
    return sums;
}

std::vector<std::string> pprof_texts(const std::string& file)
{
    std::vector<std::string> texts;
    for (const Field& field : fields_of(unzipped(file))) {
        if (field.number == 6)
            texts.push_back(field.bytes);
    }
    return texts;
}

std::array<std::uint64_t, 4> sums_of(const Totals& totals)
{
    return {totals.allocations, totals.allocated_bytes, totals.leaked_blocks, totals.leaked_bytes};
}

TEST(Heaptrack, IsATextOfItsFirstVersion)
{
    LogBuilder log;
    log.info("command", "./train \"a\nb\"").device(0, 4096 * 16, "GPU");
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train").stack(5, {0x401001, 0x402001});
    log.place({.context = 1, .device = 0}).at(3'000'000);
    log.alloc(0x1000, 256, 5).alloc(0x2000, 256, 5).alloc(0x3000, 16, 5).free(0x1000);
    EXPECT_EQ(exported(export_heaptrack, log), "v 10400 1\n"
                                               "# written by vramscope\n"
                                               "X ./train \"a\\x0ab\"\n"
                                               "I 1000 10\n"
                                               "c 2\n"
                                               "s /gone/train\n"
                                               "s train+0x2000\n"
                                               "i 2000 1 2 0 0\n"
                                               "t 1 0\n"
                                               "s train+0x1000\n"
                                               "i 1000 1 3 0 0\n"
                                               "t 2 1\n"
                                               "a 0 2\n"
                                               "a 100 2\n"
                                               "+ 1\n"
                                               "+ 1\n"
                                               "a 10 2\n"
                                               "+ 2\n"
                                               "- 1\n");
}

TEST(Heaptrack, HasDeviceMemoryAlone)
{
    LogBuilder log;
    log.place({.context = 1, .device = 1});
    log.alloc(0x1000, 100).alloc(0x2000, 1000, 0, "cuMemHostAlloc");
    log.alloc(0x3000, 10000, 0, "cuMemAddressReserve");
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log)).leaked, 100u);
    ExportOptions other;
    other.device = 0;
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log, other)).allocations, 0u);
    other.device = 1;
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log, other)).leaked, 100u);
}

TEST(Heaptrack, FreesWhatGoesWithAContextUnlessTheExitTookIt)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100).alloc(0x2000, 11);
    log.context_gone(1).alloc(0x3000, 50);
    const HeaptrackSums during(exported(export_heaptrack, log));
    EXPECT_EQ(during.leaked, 50u);
    EXPECT_EQ(during.peak, 111u);

    LogBuilder at_exit;
    at_exit.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100);
    at_exit.header().exit_began_ticks = at_exit.now();
    at_exit.context_gone(1);
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, at_exit)).leaked, 100u);
}

TEST(Heaptrack, CountsTemporaryAllocations)
{
    LogBuilder log;
    log.alloc(0x1000, 1).free(0x1000).alloc(0x2000, 2).alloc(0x3000, 3).free(0x3000).free(0x2000);
    const HeaptrackSums sums(exported(export_heaptrack, log));
    EXPECT_EQ(sums.allocations, 3u);
    EXPECT_EQ(sums.temporary, 2u);
}

// What an allocator cut its blocks from is not an allocation of the program's.
TEST(Heaptrack, HasBlocksAndNotWhatTheyWereCutFrom)
{
    const HeaptrackSums sums(exported(export_heaptrack, test::program_that_cuts()));
    EXPECT_EQ(sums.allocations, 3u);
    EXPECT_EQ(sums.peak, 12u << 20);
    EXPECT_EQ(sums.leaked, 8u << 20);
}

TEST(Pprof, HasBlocksAndNotWhatTheyWereCutFrom)
{
    const LogBuilder log = test::program_that_cuts();
    const auto sums = pprof_sums(exported(export_pprof, log));
    EXPECT_EQ(sums, (std::array<std::uint64_t, 4>{3, 12 << 20, 2, 8 << 20}));
    EXPECT_EQ(sums, sums_of(test::report_of(log).totals));
}

TEST(Pprof, SumsUpWhatTheReportDoes)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100).alloc(0x2000, 11);
    log.alloc(0x5000, 7, 0, "cuMemHostAlloc").alloc(0x6000, 1000, 0, "cuMemAddressReserve");
    log.free(0x2000).context_gone(1).alloc(0x3000, 50);
    EXPECT_EQ(pprof_sums(exported(export_pprof, log)), sums_of(test::report_of(log).totals));
    EXPECT_EQ(pprof_sums(exported(export_pprof, log)),
              (std::array<std::uint64_t, 4>{4, 168, 3, 157}));
}

TEST(Pprof, HasTextsThatAreUtf8WhateverTheLogSays)
{
    LogBuilder log;
    log.info("command", "x\xff").module(1, 0x400000, 0x400000, 0x500000, "/gone/\xc0z");
    log.stack(1, {0x401001}).push("step\n\xfe").alloc(0x1000, 1, 1);
    const std::vector<std::string> texts = pprof_texts(exported(export_pprof, log));
    EXPECT_EQ(texts.at(0), "");
    for (const char* const text : {"x\\xff", "/gone/\\xc0z", "step\\x0a\\xfe", "inuse_space"})
        EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 1) << text;
}

TEST(Pprof, SaysWhyItMayNotBeAll)
{
    LogBuilder log;
    log.alloc(0x1000, 1);
    log.header().lost[0] = 2;
    const std::vector<std::string> texts = pprof_texts(exported(export_pprof, log));
    EXPECT_EQ(std::count(texts.begin(), texts.end(), "inconclusive: 2 events were lost"), 1);
}

TEST(Blocks, AreLinesWhoseTextsAreQuotedAndSafe)
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/a\"b,\n\xff").stack(5, {0x401001});
    log.context(1).place({.context = 1, .device = 0}).thread_name(77, "worker");
    log.push("epoch, 1").push("step").alloc(0x1000, 256, 5).pop().pop();
    log.alloc(0x2000, 7, 0, "cuMemHostAlloc").free(0x1000).context_gone(1);
    const std::string text = exported(export_blocks, log);
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "allocated_ns,freed_ns,end,bytes,address,memory,device,tid,phase,api,function,file,"
              "line,fingerprint,stack");
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    EXPECT_NE(line.find(",freed,256,0x1000,device,0,77,\"epoch, 1/step\",cuMemAlloc,,,,"),
              line.npos)
        << line;
    EXPECT_TRUE(line.ends_with(",\"a\"\"b,\\x0a\\xff+0x1000\"")) << line;
    std::getline(lines, line);
    EXPECT_NE(line.find(",context,7,0x2000,pinned,"), line.npos) << line;
    EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST(Blocks, AreThoseThatWereCutAndNotWhatTheyWereCutFrom)
{
    const LogBuilder log = test::program_that_cuts();
    EXPECT_EQ(BlockSums(exported(export_blocks, log)).sums, sums_of(test::report_of(log).totals));
}

TEST(ProtobufMessage, IsAsTheWireFormatSays)
{
    ProtobufMessage inner;
    inner.number(1, 150);
    EXPECT_EQ(inner.encoded(), "\x08\x96\x01");
    ProtobufMessage outer;
    outer.message(3, inner).bytes(2, "testing").number(4, 0);
    EXPECT_EQ(outer.encoded(), "\x1a\x03\x08\x96\x01\x12\x07testing");
    ProtobufMessage list;
    list.numbers(6, std::array<std::uint64_t, 3>{3, 270, 86942});
    EXPECT_EQ(list.encoded(), "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
}

// Any log: addresses that come again, frees of nothing, contexts that die, several threads.
LogBuilder random_log(std::uint32_t seed)
{
    constexpr std::array kApis{"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocManaged",
                               "cuMemAllocAsync", "cuMemAddressReserve"};
    constexpr std::array kFrees{"cuMemFree_v2", "cuMemFreeHost", "cuMemFree_v2", "cuMemFreeAsync",
                                "cuMemAddressFree"};
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return std::uint64_t{random() % bound}; };
    LogBuilder log = test::program_with_stacks();
    log.context(1).context(2);
    for (int event = 0; event < 400; ++event) {
        log.thread(static_cast<std::uint32_t>(below(3)));
        log.place({.context = below(3), .device = static_cast<std::int64_t>(below(3)) - 1});
        const std::uint64_t address = 0x1000 + below(40) * 0x1000;
        const std::size_t api = below(kApis.size());
        const std::uint64_t what = below(100);
        if (what < 55)
            log.alloc(address, below(5000), below(10), kApis[api]);
        else if (what < 98)
            log.free(address, kFrees[api]);
        else
            log.context_gone(1 + below(2));
    }
    if (seed % 2 == 0)
        log.header().exit_began_ticks = log.now() / 2;
    return log;
}

TEST(MemoryExports, OfAnyLogSumUpWhatTheReportDoes)
{
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        const LogBuilder log = random_log(seed);
        const Report report = test::report_of(log);
        EXPECT_EQ(pprof_sums(exported(export_pprof, log)), sums_of(report.totals)) << seed;
        const BlockSums blocks(exported(export_blocks, log));
        EXPECT_EQ(blocks.sums, sums_of(report.totals)) << seed;
        const HeaptrackSums heaptrack(exported(export_heaptrack, log));
        std::uint64_t leaked = 0;
        for (const Leak& leak : report.leaks) {
            if (class_of(leak.memory) == format::MemoryClass::device &&
                leak.kind != LeakKind::at_reset)
                leaked += leak.bytes;
        }
        if (seed % 2 != 0) { // otherwise contexts that died at the exit are live to heaptrack
            EXPECT_EQ(heaptrack.leaked, leaked) << seed;
            EXPECT_EQ(heaptrack.peak, report.totals.peak_device_bytes) << seed;
            EXPECT_EQ(blocks.peak, report.totals.peak_device_bytes) << seed;
        }
    }
}

// A range's name in Latin-1, and one that was cut inside a character.
TEST(TorchSnapshotExport, ASegmentThatEndsBehindAllAddressesHasItsBlocks)
{
    LogBuilder log;
    log.device(0, 1 << 30, "GPU").context(1).segment(0x1000, UINT64_MAX);
    log.pooled(0x2000, 512).pooled(UINT64_MAX - 600, 512).pooled(0x3000, UINT64_MAX);
    EXPECT_NE(exported(export_torch_snapshot, log).find("active_allocated"), std::string::npos);
}

TEST(TorchSnapshotExport, NamesThatAreNoUtf8AreReplacedByteByByte)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0});
    log.push("caf\xe9").alloc(0x1000, 512).pop();
    log.push("gr\xc3\xb6\xc3").alloc(0x2000, 512).pop();
    const std::string pickle = exported(export_torch_snapshot, log);
    EXPECT_NE(pickle.find("caf\xef\xbf\xbd"), std::string::npos);
    EXPECT_NE(pickle.find("gr\xc3\xb6\xef\xbf\xbd"), std::string::npos);
    EXPECT_EQ(pickle.find("caf\xe9"), std::string::npos);
}

} // namespace
} // namespace vramscope::report
