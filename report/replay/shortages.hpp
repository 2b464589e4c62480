// report/replay/shortages.hpp — allocations that failed for want of memory.
//
// A watch of HeapReplay. Feed it every record that is not hot behind HeapReplay, SegmentReplay and
// DeviceMemory. The first and the last few moments are kept, all are counted. What held the memory
// costs a walk over the live blocks. In a log with very many failures the walk is made for the
// first ones, and for others only so often that the walks do not cost more than the replay.
//
// Where an allocator of the program's met with a refusal of the driver's, gave memory back and
// asked again, the refusal is none of the program's. Was it served then, it is a *retry*: the same
// thread got a segment of the size that was refused, and the allocator cut its next block there.
// Else the refusals are a part of the allocator's own failure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/shortages.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/memory.hpp"
#include "report/replay/pool/segment_replay.hpp"

namespace vramscope::report {

// One of the driver's own pools, as it stood then.
struct LoggedMempool {
    std::uint64_t handle = 0;
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    std::uint64_t maximum = 0; // 0: none
    std::uint64_t ticks = 0;
    Pools::FirstUse first;
};

struct LoggedShortage : ShortageNumbers {
    std::uint64_t api = 0;
    std::uint64_t stack = 0; // the stack of the allocation that failed; 0: none
    std::uint64_t ticks = 0;
    std::uint32_t thread = 0;       // index
    std::uint64_t row = 0;          // its number among all
    std::vector<LostBlocks> owners; // those that held the most
    std::vector<LoggedMempool> mempools;
    PoolSnapshot pieces; // of the pool, or the allocator; empty where there was no walk

    auto state() noexcept
    {
        return std::tie(device, requested, free, total, allocated, reserved, largest_gap, retries,
                        of_allocator, owners_known, held, parts, free_bytes, free_pieces, unusable,
                        fragmentation, map, api, stack, ticks, thread, row, owners, mempools,
                        pieces);
    }
};

// At one place of the program an allocator asked the driver a second time.
struct LoggedRetries {
    std::uint64_t api = 0; // of the allocator's blocks
    std::int32_t device = -1;
    std::uint64_t stack = 0; // of the block that was asked for
    std::uint64_t first_ticks = 0;
    std::uint64_t retries = 0;
    std::uint64_t most_requested = 0; // of the driver, in bytes
};

class Shortages final : public BlockWatch {
public:
    static constexpr std::size_t kFirst = 8;
    static constexpr std::size_t kLast = 8;
    static constexpr std::size_t kOwners = 20; // some become one row, by what a reader sees

    static constexpr std::size_t kMapCells = 64;

    explicit Shortages(const LogTables& tables) : tables_(tables) {} // which outlive this

    void apply(const Record& record, HeapReplay& heap, const SegmentReplay& segments,
               const DeviceMemory& memory);

    std::vector<LoggedShortage> kept() const; // in order of time
    std::uint64_t count() const noexcept { return count_; }
    std::vector<LoggedRetries> retries() const; // in no order
    // Takes the refusals that were mended out of these.
    void forget_mended(FailedCalls& failed) const;

    void born(const Block& block) override
    {
        if (!refusals_.empty()) [[unlikely]]
            follow(block);
    }
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block&, std::uint64_t) override {}
    void context_gone(std::span<const SiteLoss>, std::uint64_t) override {}

    auto state() noexcept
    {
        return std::tie(refusals_, retried_, mended_, rows_, dropped_, first_, last_, count_,
                        told_last_, walk_again_at_, last_stack_, retries_);
    } // see report/checkpoint

private:
    static constexpr std::size_t kMostFollowed = 16;

    // By the driver: the allocator that it was perhaps for may yet get what it asked for.
    struct Refusal {
        std::uint64_t row = 0;
        std::uint64_t api = 0;
        std::uint64_t stack = 0;
        std::uint64_t requested = 0;
        std::uint64_t free = 0;
        std::uint64_t total = 0;
        std::uint64_t allocations = 0; // that had succeeded before it
        std::uint32_t thread = 0;
        std::int32_t device = -1;
        bool of_piece = false;      // physical memory: an allocator asks for many such pieces
        std::uint64_t physical = 0; // of a piece: what the device's pieces had then
        bool given_back = false;
        bool granted = false;

        // What was free once the pieces that had come before the refused one were given back, and
        // the device had so many bytes of pieces.
        std::uint64_t free_with(std::uint64_t pieces) const noexcept
        {
            return free +
                   std::min(physical - std::min(physical, pieces), total - std::min(total, free));
        }
    };
    using Place = std::tuple<std::uint64_t, std::int32_t, std::uint64_t>;

    void add(const Record& record, const format::OutOfMemory& logged, HeapReplay& heap,
             const SegmentReplay& segments, const DeviceMemory& memory);
    void add_mempool(const Record& record, const format::MempoolMemory& logged,
                     const HeapReplay& heap);
    static std::uint64_t look_at_owners(LoggedShortage& shortage, HeapReplay& heap);
    static std::uint64_t look_at_pieces(LoggedShortage& shortage, const SegmentReplay& segments);
    static std::uint64_t look_into_allocator(LoggedShortage& shortage, HeapReplay& heap);
    void follow_refusal(const LoggedShortage& shortage, HeapReplay& heap);
    [[gnu::noinline]] void follow(const Block& block); // rare: what each birth goes through is flat
    void serve(const Block& block);
    void absorb_refusals(LoggedShortage& shortage, HeapReplay& heap);
    void count_retry(const LoggedRetries& retry);
    void drop(std::uint64_t row);

    const LogTables& tables_;
    std::deque<Refusal> refusals_;
    std::map<Place, LoggedRetries> retried_; // by api, device and stack
    // By entry point and stack: calls and bytes.
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, std::uint64_t>>
        mended_;
    std::uint64_t rows_ = 0;
    std::uint64_t dropped_ = 0;
    std::vector<LoggedShortage> first_;
    std::deque<LoggedShortage> last_;
    std::uint64_t count_ = 0;
    // Whose failure was the last thing told, so that what is said of pools next belongs to it.
    struct {
        std::uint64_t row = 0;
        std::uint32_t thread = 0;
    } told_last_;
    std::uint64_t walk_again_at_ = 0; // number of an event
    // By thread: the stack of its last failed call.
    std::unordered_map<std::uint32_t, std::uint64_t> last_stack_;
    std::map<std::int64_t, std::uint64_t> retries_;
};

} // namespace vramscope::report
