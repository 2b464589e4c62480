// tests/bench/log_generator.cpp — writes a log of any length, as the recorder would have left it.
//
//   log_generator EVENTS FILE [--pool off|cache|split] [--threads N] [--live N] [--stacks N]
//
// The log is that of a program that holds N blocks, frees any of them and allocates another, from
// several threads and many places, in steps that are NVTX ranges. With a pool, freed blocks wait
// until they may be used again, and are handed out without the driver. The log is streamed, so the
// memory for it goes with what is alive. The bytes are made by tracker/format alone. EVENTS counts
// allocations and frees.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <random>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "tests/bench/generated_lane.hpp"
#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace {

using namespace vramscope;
using test::Lane;

constexpr std::uint64_t kFirstAddress = 0x7f0000000000;
constexpr std::uint64_t kSlotBytes = 64 * 1024;
constexpr std::uint64_t kSlotsPerSegment = 32; // with --pool split
constexpr std::uint64_t kFirstModule = 0x400000;
constexpr std::uint64_t kEventsPerStep = 1000;
constexpr std::uint64_t kEventsPerTurn = 100; // one thread's events before another goes on
constexpr std::size_t kPending = 512;         // freed blocks that wait to be used again

enum class Pool { off, cache, split };

struct Options {
    std::uint64_t events = 0;
    std::string file;
    Pool pool = Pool::off;
    std::uint32_t threads = 4;
    std::uint64_t live = 25'000;
    std::uint64_t stacks = 2'000;
};

class Generator {
public:
    Generator(const Options& options, int file) : options_(options), file_(file)
    {
        std::memcpy(header_.magic, format::kMagic, sizeof header_.magic);
        header_.major = format::kMajorVersion;
        header_.minor = format::kMinorVersion;
        header_.byte_order = format::kByteOrder;
        header_.header_bytes = format::kHeaderBytes;
        header_.chunk_bytes = format::kChunkBytes;
        header_.pid = 1;
        header_.clock = format::Clock::monotonic;
        header_.start_ticks = header_.start_ns = ticks_;
        header_.threads = options.threads;
        for (std::uint32_t thread = 0; thread < options.threads; ++thread)
            lanes_.emplace_back(file, thread, header_);
    }

    void run()
    {
        define();
        for (std::uint64_t slot = 0; slot < options_.live && events_ < options_.events; ++slot) {
            next_event();
            take_segment(slot);
            allocate(slot);
            live_.push_back(slot);
        }
        first_free_ = live_.size();
        while (events_ < options_.events) {
            next_event();
            if (events_ % 2 == 1)
                free_one();
            else
                allocate_one();
        }
        for (Lane& lane : lanes_)
            lane.publish();
        header_.latest_ticks = header_.latest_ns = ticks_;
        header_.exit_began_ticks = ticks_;
        header_.end = format::End::exit;
        std::vector<char> block(format::kHeaderBytes);
        std::memcpy(block.data(), &header_, sizeof header_);
        if (::pwrite(file_, block.data(), block.size(), 0) != static_cast<ssize_t>(block.size())) {
            std::perror("log_generator");
            std::exit(1);
        }
    }

private:
    enum : std::uint64_t { kAlloc, kFree };

    Lane& lane() { return lanes_[thread_]; }

    void define()
    {
        Lane& first = lanes_[0];
        first.record(ticks_, format::Api{kAlloc, format::Effect::alloc, format::Memory::device,
                                         "cuMemAlloc_v2"});
        first.record(ticks_, format::Api{kFree, format::Effect::free, format::Memory::device,
                                         "cuMemFree_v2"});
        first.record(ticks_, format::Context{1, 0x1000, 0, true});
        first.record(ticks_, format::Device{0, std::uint64_t{80} << 30, "Generated"});
        info("program", "generated");
        info("pool.mode", options_.pool == Pool::off     ? "off"
                          : options_.pool == Pool::cache ? "cache"
                                                         : "split");
        for (std::uint64_t id = 1; id <= options_.stacks; ++id) {
            std::vector<std::uintptr_t> frames{kFirstModule + id * 64};
            while (frames.size() < 20)
                frames.push_back(frames.back() + random_() % 4096);
            first.record(ticks_, format::Stack{id, 0, frames.size(), {frames.data(), {}}});
        }
    }

    void info(std::string_view key, std::string_view value)
    {
        lanes_[0].record(ticks_, format::Info{key, value});
    }

    void next_event()
    {
        ++events_;
        ticks_ += 50 + random_() % 100;
        if (events_ % kEventsPerTurn == 0)
            thread_ = static_cast<std::uint32_t>(random_() % lanes_.size());
        if (events_ % kEventsPerStep == 1) {
            if (events_ > 1)
                lanes_[0].record(ticks_, format::RangePop{});
            ++ticks_;
            lanes_[0].record(ticks_,
                             format::RangePush{"step " + std::to_string(events_ / kEventsPerStep)});
            ++ticks_;
        }
        if (options_.pool != Pool::off && events_ % kPending == 0) {
            lane().record(ticks_, format::Reusable{});
            ++ticks_;
        }
    }

    static std::uint64_t address_of(std::uint64_t slot)
    {
        return kFirstAddress + slot * kSlotBytes;
    }

    void take_segment(std::uint64_t slot)
    {
        const std::uint64_t slots = options_.pool == Pool::split ? kSlotsPerSegment : 1;
        if (options_.pool == Pool::off || slot % slots != 0)
            return;
        lane().record(ticks_, format::Segment{address_of(slot), slots * kSlotBytes, 1, 0});
        ++ticks_;
    }

    void allocate(std::uint64_t slot)
    {
        // Mostly each slot keeps its own size, as programs repeat themselves.
        const std::uint64_t bytes =
            random_() % 8 == 0 ? 256 + random_() % (kSlotBytes - 256) : 512 + slot % 64 * 512;
        const format::Alloc event{.api = kAlloc,
                                  .ticks = ticks_,
                                  .address = address_of(slot),
                                  .bytes = bytes,
                                  .stack = 1 + slot % options_.stacks,
                                  .memory = format::Memory::none,
                                  .pooled = options_.pool != Pool::off,
                                  .slack = kSlotBytes - bytes};
        lane().write(event);
    }

    void free_one()
    {
        const std::size_t which = random_() % live_.size();
        const std::uint64_t slot = live_[which];
        live_[which] = live_.back();
        live_.pop_back();
        free_.push_back(slot);
        const format::Free event{.api = kFree,
                                 .ticks = ticks_,
                                 .address = address_of(slot),
                                 .stack = 1 + slot % options_.stacks};
        lane().write(event);
    }

    void allocate_one()
    {
        std::uint64_t slot = first_free_;
        if (options_.pool == Pool::off || free_.size() > 2 * kPending) {
            slot = free_.front();
            free_.pop_front();
        } else {
            take_segment(first_free_++);
        }
        allocate(slot);
        live_.push_back(slot);
    }

    const Options& options_;
    int file_;
    format::FileHeader header_{};
    std::deque<Lane> lanes_;
    std::vector<std::uint64_t> live_;
    std::deque<std::uint64_t> free_;
    std::uint64_t first_free_ = 0;
    std::uint64_t ticks_ = 1'000'000;
    std::uint64_t events_ = 0;
    std::uint32_t thread_ = 0;
    std::mt19937_64 random_{1};
};

[[noreturn]] void usage()
{
    std::fputs("usage: log_generator EVENTS FILE [--pool off|cache|split] [--threads N] [--live N] "
               "[--stacks N]\n",
               stderr);
    std::exit(125);
}

Options read_options(int argc, char** argv)
{
    if (argc < 3 || argc % 2 == 0)
        usage();
    Options options;
    options.events = std::strtoull(argv[1], nullptr, 10);
    options.file = argv[2];
    for (int at = 3; at + 1 < argc; at += 2) {
        const std::string_view name = argv[at];
        const std::string_view value = argv[at + 1];
        const std::uint64_t number = std::strtoull(argv[at + 1], nullptr, 10);
        if (name == "--pool")
            options.pool = value == "cache"   ? Pool::cache
                           : value == "split" ? Pool::split
                           : value == "off"   ? Pool::off
                                              : (usage(), Pool::off);
        else if (name == "--threads" && number > 0)
            options.threads = static_cast<std::uint32_t>(number);
        else if (name == "--live" && number > 0)
            options.live = number;
        else if (name == "--stacks" && number > 0)
            options.stacks = number;
        else
            usage();
    }
    return options;
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = read_options(argc, argv);
    const int file = ::open(options.file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
        std::perror(options.file.c_str());
        return 1;
    }
    Generator(options, file).run();
    return ::close(file);
}
