// tests/stress/log_stress_test.cpp — one log, and all that can happen to it at once.
//
// Threads are born, record and die; the process forks, marks come from outside, and a reader
// follows. The threads keep a small heap, whose blocks some free for others. The reader is another
// process, as `top` is: what the recorder publishes too early, it sees too early.
#include <array>
#include <atomic>
#include <fcntl.h>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "report/log/log_reader.hpp"
#include "tests/stress/ledger.hpp"
#include "tests/tracker/fixture/recording.hpp"
#include "tracker/capture/clock.hpp"
#include "tracker/log/outside_mark.hpp"

using namespace vramscope;
using format::Tag;
using test::hooked_alloc;
using test::hooked_free;
using test::Ledger;
using test::Recording;

namespace {

constexpr std::uint64_t kRows = 4;   // rows of threads that follow one another
constexpr std::uint64_t kLives = 40; // threads in each row
#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t kSteps = 500; // an event takes some twenty times as long
#else
constexpr std::uint64_t kSteps = 2000;
#endif
constexpr std::uint64_t kStepsPerRange = 10;
constexpr std::uint64_t kBlocks = 16; // blocks that a thread holds at once
constexpr std::uint64_t kTravellers = kRows / 2;
constexpr std::uint64_t kOpener = kRows * kLives; // the main thread, as a writer
constexpr std::uint64_t kWriters = kOpener + 1;
constexpr std::uint64_t kForkedEvents = 3000;
constexpr int kMarkers = 2;
constexpr int kMarksEach = 40;

// ---- the traced program ----

// The same event from some different stacks.
[[gnu::noinline]] void alloc_at_depth(unsigned depth, std::uint64_t address, std::uint64_t bytes)
{
    if (depth > 0)
        alloc_at_depth(depth - 1, address, bytes);
    else
        hooked_alloc(address, bytes, {1, static_cast<std::int64_t>(address >> 32), 0, 0, false});
    VRAMSCOPE_TEST_KEEP_FRAME();
}

// Blocks that one thread allocates and another frees, which take the same address at once: what the
// order of times must get right.
class Travellers {
public:
    void leave(std::uint64_t address)
    {
        for (std::uint64_t at = address >> 8;; ++at) {
            std::uint64_t nothing = 0;
            if (boxes_[at % kRows].compare_exchange_strong(nothing, address,
                                                           std::memory_order_acq_rel))
                return;
        }
    }
    std::uint64_t take(std::uint64_t row)
    {
        return boxes_[row].exchange(0, std::memory_order_acq_rel);
    }

private:
    std::array<std::atomic<std::uint64_t>, kRows> boxes_{}; // more than there are travellers
};

class Writer {
public:
    Writer(Travellers& travellers, std::uint64_t writer) : travellers_(travellers), writer_(writer)
    {
    }

    void live()
    {
        for (std::uint64_t step = 0; step < kSteps; ++step) {
            const std::uint64_t address = ((writer_ + 1) << 32) + step % kBlocks * 256;
            if (step >= kBlocks)
                hooked_free(address);
            alloc(address);
            if (const std::uint64_t traveller = travellers_.take(writer_ / kLives)) {
                hooked_free(traveller);
                alloc(traveller);
                travellers_.leave(traveller);
            }
            if (step % kStepsPerRange == 0) {
                log::push_range(std::to_string(test::event_id(writer_, sequence_)));
                log::pop_range();
            }
            if (step == kSteps / 2 && writer_ == kLives / 2)
                fork_one_that_records();
        }
        for (std::uint64_t block = 0; block < kBlocks; ++block)
            hooked_free(((writer_ + 1) << 32) + block * 256);
    }
    std::uint64_t recorded() const { return sequence_; }
    void alloc(std::uint64_t address)
    {
        alloc_at_depth(sequence_ % 8, address, test::event_id(writer_, sequence_));
        ++sequence_;
    }

private:
    static void fork_one_that_records()
    {
        test::run_in_child([] {
            for (std::uint64_t i = 0; i < kForkedEvents; ++i)
                hooked_alloc((i + 1) * 256, i + 1);
        });
    }

    Travellers& travellers_;
    const std::uint64_t writer_;
    std::uint64_t sequence_ = 0;
};

// Tells `out` when the log is open, and at the end how many allocations were recorded.
void run_program(int out, int go_on)
{
    Travellers travellers;
    Writer opener(travellers, kOpener);
    for (std::uint64_t i = 1; i <= kTravellers; ++i) {
        opener.alloc(i * 256);
        travellers.leave(i * 256);
    }
    char byte = 0;
    ASSERT_EQ(::write(out, &byte, 1), 1);
    ASSERT_EQ(::read(go_on, &byte, 1), 1);
    std::atomic<std::uint64_t> recorded{opener.recorded()};
    std::vector<std::thread> rows;
    for (std::uint64_t row = 0; row < kRows; ++row)
        rows.emplace_back([&, row] {
            for (std::uint64_t life = 0; life < kLives; ++life)
                std::thread([&, life] {
                    Writer writer(travellers, row * kLives + life);
                    writer.live();
                    recorded += writer.recorded();
                }).join();
        });
    for (std::thread& row : rows)
        row.join();
    for (std::uint64_t row = 0; row < kRows; ++row)
        if (const std::uint64_t traveller = travellers.take(row))
            hooked_free(traveller);
    const std::uint64_t sum = recorded;
    ASSERT_EQ(::write(out, &sum, sizeof sum), static_cast<ssize_t>(sizeof sum));
}

// ---- the onlookers ----

void mark_from_outside(const std::string& path, int marker)
{
    for (int i = 0; i < kMarksEach; ++i) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        EXPECT_TRUE(log::append_mark(descriptor, std::to_string(marker * kMarksEach + i)));
        ::close(descriptor);
    }
}

void read_on(report::LogFile& file, report::LogReader& reader, std::uint64_t until, Ledger& ledger)
{
    file.refresh();
    reader.hold_back(until);
    reader.refresh();
    while (const report::Record* const record = reader.next())
        ledger.apply(*record);
}

void expect_all(const Ledger& ledger, std::uint64_t recorded)
{
    EXPECT_EQ(ledger.faults(), std::vector<std::string>{});
    EXPECT_EQ(ledger.writers(), kWriters);
    EXPECT_EQ(ledger.pops(), ledger.ranges());
    EXPECT_EQ(ledger.ranges(), kRows * kLives * kSteps / kStepsPerRange);
    EXPECT_EQ(ledger.marks(), std::uint64_t{kMarkers} * kMarksEach);
    EXPECT_EQ(ledger.allocs(), recorded);
    EXPECT_EQ(ledger.blocks_alive(), 0u);
}

void expect_whole(const report::LogFile& file, const report::LogReader& reader)
{
    EXPECT_EQ(reader.damaged_chunks(), 0u);
    EXPECT_FALSE(reader.cut());
    EXPECT_EQ(std::accumulate(std::begin(file.header().lost), std::end(file.header().lost),
                              std::uint64_t{0}),
              0u);
}

void expect_whole_log_of_the_fork(const std::string& path)
{
    const test::RecordedLog log = test::read_recorded_log(path);
    std::uint64_t event = 0;
    for (const test::DecodedRecord& alloc : log.all(Tag::alloc))
        ASSERT_EQ(alloc.number("bytes"), ++event);
    EXPECT_EQ(event, kForkedEvents);
}

} // namespace

TEST(LogStress, EveryEventIsThereOnceAndInOrderForWhoeverLooks)
{
    Recording recording;
    recording.setting("VRAMSCOPE_LOG", recording.dir().file("%p.vsl"));
    int from_program[2], go_on[2];
    ASSERT_EQ(::pipe(from_program) | ::pipe(go_on), 0);
    const pid_t program = recording.start([&] {
        ::close(go_on[1]);
        run_program(from_program[1], go_on[0]);
    });
    ::close(from_program[1]); // a process that waits for one that ended is told so
    char byte = 0;
    ASSERT_EQ(::read(from_program[0], &byte, 1), 1);
    const std::string path = recording.dir().file(std::to_string(program) + ".vsl");

    report::LogFile file = report::LogFile::open(path);
    report::LogReader reader(file);
    Ledger seen(kMarksEach);
    read_on(file, reader, capture::read_ticks(file.header().clock), seen);
    std::vector<pid_t> markers;
    for (int marker = 0; marker < kMarkers; ++marker)
        markers.push_back(test::start_child([&] { mark_from_outside(path, marker); }));
    ASSERT_EQ(::write(go_on[1], &byte, 1), 1);
    int status = 0;
    while (::waitpid(program, &status, WNOHANG) == 0)
        read_on(file, reader, capture::read_ticks(file.header().clock), seen);
    EXPECT_EQ(status, 0) << "the program failed: see above";
    for (const pid_t marker : markers)
        EXPECT_EQ(test::wait_for(marker), 0);
    std::uint64_t recorded = 0;
    ASSERT_EQ(::read(from_program[0], &recorded, sizeof recorded),
              static_cast<ssize_t>(sizeof recorded));
    read_on(file, reader, UINT64_MAX, seen);
    expect_all(seen, recorded);
    expect_whole(file, reader);
    EXPECT_GT(file.chunks(), 3 * kRows);

    Ledger afterwards(kMarksEach);
    report::LogReader anew(file);
    read_on(file, anew, UINT64_MAX, afterwards);
    expect_all(afterwards, recorded);
    expect_whole(file, anew);

    ASSERT_EQ(recording.dir().names().size(), 2u);
    for (const std::string& name : recording.dir().names())
        if (recording.dir().file(name) != path)
            expect_whole_log_of_the_fork(recording.dir().file(name));
}
