// tests/report/checkpoint/collected_test.cpp — a log that was collected again and again tells what
// the whole log does.
//
// Random programs are written twice: as one log, and as one that grows and is collected meanwhile,
// down to nothing but its checkpoint and the chunks that are open. The report of the first is the
// oracle. A failure names its seed; VRAMSCOPE_TEST_SEEDS is how many programs are played.
#include "report/checkpoint/collected.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/checkpoint/checkpoint.hpp"
#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/fnv1a.hpp"
#include "report/json/documents.hpp"
#include "report/log/given_back.hpp"
#include "report/page/drawn.hpp"
#include "report/rules/read_rules.hpp"
#include "tests/support/random_program.hpp"
#include "tracker/log/outside_checkpoint.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::Do;
using test::Layout;
using test::LogBuilder;
using test::random_program;
using test::Step;
using test::TempFile;
using test::written;

constexpr std::size_t kChunk = format::kChunkBytes;

std::uint32_t seeds()
{
    const char* const wanted = std::getenv("VRAMSCOPE_TEST_SEEDS");
    return wanted ? static_cast<std::uint32_t>(std::atoi(wanted)) : 20;
}

// A log as a recorder and a collector write it: the collector takes chunks too, so those of the
// program are at other places than in the log that it would have written alone.
class CollectedLog {
public:
    CollectedLog() : descriptor_(::memfd_create("collected.vsl", MFD_CLOEXEC)) {}
    CollectedLog(const CollectedLog&) = delete;
    CollectedLog& operator=(const CollectedLog&) = delete;
    ~CollectedLog() { ::close(descriptor_); }

    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    int descriptor() const { return descriptor_; }

    // The log is now what it would be in these bytes.
    void grow_to(const Bytes& log)
    {
        format::FileHeader header;
        std::memcpy(&header, log.data(), sizeof header);
        const format::FileHeader before = read_header();
        const std::uint32_t chunks = header.chunks;
        header.chunks = before.chunks;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const auto [at, added] = place_.try_emplace(chunk, header.chunks);
            header.chunks += added;
            if (added || is_there(at->second))
                copy_chunk(&log[format::kHeaderBytes + chunk * kChunk], at->second);
        }
        if (before.major != 0) {
            header.major = before.major;
            header.checkpoint = before.checkpoint;
            std::memcpy(header.checkpoint_rows, before.checkpoint_rows,
                        sizeof header.checkpoint_rows);
        }
        write(&header, sizeof header, 0);
    }

    // As a collector does it.
    void collect(std::uint64_t until_ticks)
    {
        std::string checkpoint;
        std::vector<EmptyRun> given_back;
        {
            const LogFile file = LogFile::open(path(), LogFile::Collected::taken);
            const auto log = begin_collection(file, until_ticks);
            log->read();
            checkpoint = checkpoint_of(*log);
            check_collected_checkpoint(checkpoint, file);
            given_back = chunks_to_give_back(file, log->reading.reader().kept());
        }
        ASSERT_TRUE(log::publish_checkpoint(descriptor_, checkpoint));
        for (const EmptyRun& run : given_back) {
            ASSERT_TRUE(log::give_back(descriptor_, run.first, run.end));
            chunks_given_back += run.end - run.first;
        }
    }

    format::FileHeader read_header() const
    {
        format::FileHeader header{};
        if (::pread(descriptor_, &header, sizeof header, 0) < 0)
            ADD_FAILURE();
        return header;
    }
    std::uint64_t bytes_on_disk() const
    {
        struct stat status;
        return ::fstat(descriptor_, &status) == 0
                   ? 512u * static_cast<std::size_t>(status.st_blocks)
                   : 0;
    }
    void write(const void* bytes, std::size_t count, std::uint64_t offset)
    {
        ASSERT_EQ(::pwrite(descriptor_, bytes, count, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(count));
    }

    std::uint32_t chunks_given_back = 0;

private:
    static std::uint64_t offset_of(std::uint32_t position)
    {
        return format::kHeaderBytes + std::uint64_t{position} * kChunk;
    }
    bool is_there(std::uint32_t position) const // else it was given back, and is not written again
    {
        std::uint32_t magic = 0;
        return ::pread(descriptor_, &magic, sizeof magic, static_cast<off_t>(offset_of(position))) >
                   0 &&
               magic != 0;
    }
    void copy_chunk(const std::uint8_t* bytes, std::uint32_t position)
    {
        std::vector<std::uint8_t> chunk(bytes, bytes + kChunk);
        format::ChunkHeader header;
        std::memcpy(&header, chunk.data(), sizeof header);
        header.index = position;
        std::memcpy(chunk.data(), &header, sizeof header);
        write(chunk.data(), chunk.size(), offset_of(position));
    }

    int descriptor_;
    std::map<std::uint32_t, std::uint32_t> place_; // of each chunk of the whole log
};

// Without what the file itself is called.
Report named_report(const std::filesystem::path& log, const Options& options)
{
    Report report = make_report({log}, options);
    for (Process& process : report.processes)
        process.log = "log";
    return report;
}

std::string report_of(const std::filesystem::path& log)
{
    Options options;
    options.all_sites = true;
    return report_json(named_report(log, options), Audience::whole_file).dump(1);
}

// All of a page but who had the memory over time.
std::string page_of(const std::filesystem::path& log)
{
    Options options;
    options.for_page = true;
    const Report report = named_report(log, options);
    Json drawn = drawn_json(report, {});
    for (Json& process : drawn)
        for (Json& device : process)
            device.erase("compositions");
    return report_json(report, Audience::page).dump(1) + drawn.dump(1);
}

// In the formats of stacks.
std::string exports_of(const std::filesystem::path& log)
{
    std::string text;
    ExportOptions options;
    const Sink sink = [&](std::string_view piece) { text += piece; };
    export_pprof(log, sink, options);
    export_folded(log, sink, options);
    options.folded = FoldedSum::allocated;
    export_folded(log, sink, options);
    export_speedscope(log, sink, options);
    const std::string title = "\"name\":\"" + log.filename().string();
    text.erase(text.find(title), title.size());
    return text;
}

constexpr std::string_view kRules = R"(
owner "mine" stack /./ or kind pinned
a: forbid alloc
b: forbid alloc kind pinned
c: forbid alloc not kind pinned device 0
d: forbid stream
e: forbid context
f: forbid graph device 7
g: forbid alloc owner "mine" not module "lib*"
h: forbid alloc file "*/nowhere.cpp"
i: limit live 1GiB
j: limit live 1
k: limit live 4KiB device 0 not stack /nobody/
l: forbid misuse
m: forbid misuse not kind device
)";

Options with_rules(std::string_view rules)
{
    Options options;
    add_rules_file(options.rules, TempFile(Bytes(rules.begin(), rules.end())).path());
    return options;
}

// Which of two call places that had as much comes first is not the same.
std::string rules_of(const std::filesystem::path& log)
{
    const Report report = make_report({log}, with_rules(kRules));
    std::string text;
    for (const RuleOutcome& outcome : report.processes.at(0).rules) {
        text += fmt::format("{} {} {} {}\n", outcome.name, outcome.measured, outcome.never,
                            outcome.unknown);
        for (const RuleCall& call : outcome.calls)
            text += fmt::format("{}\n", outcome.of_bytes ? call.bytes : call.count);
    }
    return text;
}

struct Played {
    std::vector<Step> steps;
    Layout layout;
};

// Of memory that is there or was, or a bit behind where it begins.
void add_wrong_frees(std::vector<Step>& steps, std::mt19937& random)
{
    std::vector<std::uint64_t> addresses{0x123};
    for (std::size_t at = 0; at < steps.size(); ++at) {
        if (steps[at].what == Do::alloc)
            addresses.push_back(steps[at].address);
        if (random() % 10 > 0)
            continue;
        Step wrong = steps[at];
        wrong.what = random() % 3 > 0 ? Do::failed_free : Do::damaged;
        wrong.api = random() % 2 > 0 ? "cuMemFree_v2" : "cuMemFreeHost";
        wrong.address = addresses[random() % addresses.size()] + 16 * (random() % 2);
        wrong.bytes = 4;
        wrong.stack = 1 + random() % test::kStacks;
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(++at), wrong);
    }
}

Played program_of(std::uint32_t seed)
{
    // Where memory overlaps that cannot, more lives are cut in pieces where all are followed.
    const bool nonsense = seed % 5 == 0;
    std::mt19937 random(seed);
    std::vector<Step> steps = random_program(seed, {.late_frees = false, .nonsense = nonsense});
    if (!nonsense)
        add_wrong_frees(steps, random);
    return {std::move(steps), {.new_chunks = 5 + seed % 30, .seed = seed}};
}

// After each few steps all of them are collected.
void play(const Played& program, std::mt19937& random, CollectedLog& log)
{
    const std::vector<Step>& steps = program.steps;
    std::uint64_t last = 0;
    for (std::size_t step = 1 + random() % 50; step < steps.size(); step += 1 + random() % 50) {
        log.grow_to(written({steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(step)},
                            program.layout)
                        .build());
        const std::uint64_t now = steps[step - 1].ticks;
        const std::uint64_t until = now - std::min<std::uint64_t>(now, random() % 3000);
        if (until > last)
            log.collect(last = until);
    }
    log.grow_to(written(steps, program.layout).build());
}

TEST(CollectedLog, TellsWhatTheWholeLogDoes)
{
    std::uint32_t given_back = 0;
    for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const Played program = program_of(seed);
        CollectedLog log;
        play(program, random, log);
        given_back += log.chunks_given_back;
        const TempFile whole(written(program.steps, program.layout).build());
        ASSERT_EQ(report_of(log.path()), report_of(whole.path()));
        if (seed % 4 != 1)
            continue;
        ASSERT_EQ(page_of(log.path()), page_of(whole.path()));
        ASSERT_EQ(exports_of(log.path()), exports_of(whole.path()));
        ASSERT_EQ(rules_of(log.path()), rules_of(whole.path()));
    }
    EXPECT_GT(given_back, 10 * seeds()); // else nothing was tested
}

// The program takes memory, and its allocator cuts a block from that.
LogBuilder program_that_cuts(std::size_t steps)
{
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    LogBuilder log;
    log.header().suballocated = 1;
    log.place({.context = 1, .device = 0}).alloc(0x1000, 4096);
    if (steps > 0)
        log.alloc(kSegment, 20 << 20);
    if (steps > 1)
        log.alloc(kSegment, 3 << 20, 0, "PyTorch");
    return log;
}

// `written` of its steps are in the log when it is collected, and `settled` of them.
bool is_doubted_after(std::size_t written, std::size_t settled)
{
    CollectedLog log;
    log.grow_to(program_that_cuts(written).build());
    log.collect(program_that_cuts(settled).now() - 1);
    log.grow_to(program_that_cuts(2).build());
    const Report report = make_report({log.path()});
    EXPECT_EQ(report.totals.leaked_blocks, 2u);
    const TempFile whole(program_that_cuts(2).build());
    const bool doubted =
        std::any_of(report.reasons.begin(), report.reasons.end(), [](const std::string& why) {
            return why.find("when the log was collected") != std::string::npos;
        });
    EXPECT_EQ(report_of(log.path()) == report_of(whole.path()), !doubted);
    return doubted;
}

TEST(CollectedLog, MemoryThatIsCutLaterIsKnownOrThereIsADoubt)
{
    EXPECT_FALSE(is_doubted_after(0, 0));
    EXPECT_FALSE(is_doubted_after(2, 1)); // it was cut within the second
    EXPECT_TRUE(is_doubted_after(1, 1));
}

// Blocks of 4 KiB of a device and of the host, ten of each; the first is freed last.
LogBuilder program_of_both(std::size_t steps)
{
    LogBuilder log;
    log.place({.context = 1, .device = 0});
    for (std::uint64_t step = 1; step <= std::min<std::size_t>(steps, 10); ++step)
        log.alloc(step << 16, 4096).alloc(step << 16, 4096, 0, "cuMemHostAlloc");
    if (steps > 10)
        log.free(1 << 16);
    return log;
}

// Blocks that came in these moments, whatever became of them.
std::uint64_t blocks_born(const Compositions& made, std::size_t first, std::size_t last)
{
    std::uint64_t blocks = 0;
    for (const SpanLife& life : made.lives)
        blocks += life.born >= first && life.born <= last ? life.blocks : 0;
    return blocks;
}

TEST(CollectedLog, APageKnowsWhoHadTheMemorySinceThen)
{
    CollectedLog log;
    log.grow_to(program_of_both(4).build());
    log.collect(program_of_both(4).now() - 1);
    log.grow_to(program_of_both(11).build());
    Options options;
    options.for_page = true;
    const Process process = make_report({log.path()}, options).processes.at(0);
    const Compositions& device = process.memory.at(0).compositions;
    for (const Compositions* made : {&device, &process.host}) {
        ASSERT_TRUE(made->since_ns);
        EXPECT_EQ(made->moments.at(0).from_ns, *made->since_ns);
        EXPECT_EQ(made->moments.at(0).bytes, 4 * 4096u);
        EXPECT_EQ(blocks_born(*made, 0, 0), 4u);
        EXPECT_EQ(blocks_born(*made, 1, made->moments.size()), 6u);
        EXPECT_EQ(made->moments.at(0).parts.at(0).blocks, 4u);
        const auto most = std::max_element(
            made->moments.begin(), made->moments.end(),
            [](const Composition& a, const Composition& b) { return a.bytes < b.bytes; });
        EXPECT_EQ(most->bytes, 10 * 4096u);
    }
    const auto freed =
        std::find_if(device.lives.begin(), device.lives.end(),
                     [](const SpanLife& life) { return life.left != SpanLife::kAlive; });
    ASSERT_NE(freed, device.lives.end());
    EXPECT_EQ(freed->born, 0u);
}

std::string refusal_of(const std::filesystem::path& log, const Options& options = {})
{
    try {
        make_report({log}, options);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

struct Collected : testing::Test {
    Collected()
    {
        std::mt19937 random(7);
        play(program_of(7), random, log);
    }
    CollectedLog log;
};

TEST_F(Collected, ItIsRefusedWhereEachEventIsNeeded)
{
    EXPECT_THROW(LogFile::open(log.path()), Error);
    Options until, from;
    until.until_ns = from.from_ns = 1;
    EXPECT_NE(refusal_of(log.path(), until).find("is known from"), std::string::npos);
    EXPECT_NE(refusal_of(log.path(), from).find("is known from"), std::string::npos);
    for (const char* rule :
         {"forbid free", "forbid driver-alloc", "limit peak 1GiB", "limit count-live 9",
          "forbid alloc in capture", "forbid alloc in range a*", "limit live 1GiB thread main"})
        EXPECT_NE(refusal_of(log.path(), with_rules("x: " + std::string(rule)))
                      .find("the rule 'x' needs each event"),
                  std::string::npos)
            << rule;
}

TEST_F(Collected, AWrongCheckpointIsRefusedInOneLine)
{
    const format::FileHeader header = log.read_header();
    const auto first = static_cast<std::uint32_t>(header.checkpoint) - 1;
    const std::uint64_t offset = format::kHeaderBytes + std::uint64_t{first} * kChunk;
    const std::uint8_t other = 0xff;
    log.write(&other, 1, offset + sizeof(format::CheckpointChunk) + 200);
    EXPECT_NE(refusal_of(log.path()).find("damaged"), std::string::npos);
    log.write(&other, 1, offset);
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
    format::FileHeader none = header;
    none.checkpoint = 0; // chunks are missing then
    log.write(&none, sizeof none, 0);
    EXPECT_NE(report_of(log.path()).find("\"verdict\": \"inconclusive\""), std::string::npos);
    none.checkpoint = UINT64_MAX;
    log.write(&none, sizeof none, 0);
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
}

// Whatever is killed in between: what is written into the other row is not looked at.
TEST_F(Collected, ACheckpointThatIsNotPublishedIsNotLookedAt)
{
    const std::string before = report_of(log.path());
    const format::FileHeader header = log.read_header();
    ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), "half of one"));
    EXPECT_NE(log.read_header().checkpoint, header.checkpoint);
    format::FileHeader killed = log.read_header();
    killed.checkpoint = header.checkpoint;
    log.write(&killed, sizeof killed, 0);
    EXPECT_EQ(report_of(log.path()), before);
}

// Whoever makes one up can make its checksum too: FNV-1a, at byte 80, of all behind it. It is
// refused, or read on without a fault.
TEST_F(Collected, ACheckpointThatIsMadeToHurtIsRefusedOrReadOn)
{
    const std::string checkpoint =
        read_collected_checkpoint(LogFile::open(log.path(), LogFile::Collected::taken));
    std::mt19937 random(1);
    for (std::size_t at = 88 + random() % 401; at < checkpoint.size(); at += 1 + random() % 401) {
        std::string hostile = checkpoint;
        const std::uint8_t bytes[] = {0, 1, 0x7f, 0xff, static_cast<std::uint8_t>(random())};
        hostile[at] = static_cast<char>(bytes[random() % std::size(bytes)]);
        Fnv1a sum;
        sum.add(std::string_view(hostile).substr(88));
        const std::uint64_t value = sum.value();
        std::memcpy(&hostile[80], &value, sizeof value);
        ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), hostile));
        try {
            make_report({log.path()});
        } catch (const Error& error) {
            EXPECT_EQ(std::count(error.what(), error.what() + std::strlen(error.what()), '\n'), 0);
        }
    }
}

// The head of a frame of zstd that says how much it holds.
TEST_F(Collected, AFewBytesNeedNoMemory)
{
    std::string bytes("\x28\xb5\x2f\xfd\xe0", 5);
    bytes += std::string("\0\0\0\0\0\1\0\0", 8); // a tebibyte
    ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), bytes));
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
}

TEST_F(Collected, RowsAreUsedInTurn)
{
    const std::uint32_t chunks = log.read_header().chunks;
    const std::uint64_t bytes = log.bytes_on_disk();
    for (int times = 0; times < 100; ++times)
        ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), "a checkpoint"));
    EXPECT_EQ(log.read_header().chunks, chunks);
    EXPECT_EQ(log.bytes_on_disk(), bytes);
}

} // namespace
} // namespace vramscope::report
