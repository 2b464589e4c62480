// tests/programs/reuse_race/world.hpp — what the actors of reuse_race share: contexts, blocks, and
// the checks of every block that is handed out.
//
// Ordinary steps hold `order` shared, steps that change contexts or capture hold it alone. A block
// that an actor uses is taken out of `blocks`: nobody frees what another thread is about to use.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace reuse_race {

// A context, and what is loaded into it.
struct Place {
    CUcontext context = nullptr;
    int device = 0;
    bool primary = false;
    bool allocates = true; // one context only works on the memory of others
    CUfunction kernel = nullptr;
    unsigned peers = 0; // a bit for each place whose memory kernels of this one may use
};

struct Block {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    unsigned place = 0;
    // Its first part() filled once, with this value, when `filled` is reached. Without event:
    // scratch memory, written by anyone at any time, never checked.
    unsigned char value = 0;
    CUevent filled = nullptr;
    unsigned graphs = 0; // how many that may still be launched use it

    // What copies and fills use at most: the simulated device takes time for each byte.
    std::size_t part() const { return bytes < kPartBytes ? bytes : kPartBytes; }
    static constexpr std::size_t kPartBytes = 65536;
};
using BlockPtr = std::shared_ptr<Block>;

struct Graph {
    CUgraphExec exec = nullptr;
    unsigned place = 0;
    bool launchable = true; // if not, its blocks may be freed
    std::vector<BlockPtr> blocks;
};

struct Counts {
    std::atomic<unsigned> allocations{0};
    std::atomic<unsigned> refused{0};      // out of memory
    std::atomic<unsigned> busy_frees{0};   // frees while queued work used the memory
    std::atomic<unsigned> stream_frees{0}; // frees in stream order
    std::atomic<unsigned> operations{0};
    std::atomic<unsigned> captures{0};
    std::atomic<unsigned> launches{0};
    std::atomic<unsigned> contexts{0}; // contexts that ended
};

// How the program is to go wrong, to show that it is seen.
enum class Plant {
    nothing,
    no_wait, // freed memory is handed out again at once
    overlap, // memory that is still held is handed out, when nothing uses it
    clobber, // a block is written over without its owner
};

constexpr unsigned kPlaces = 4;
constexpr unsigned kWorker = 3; // the place that allocates nothing
constexpr std::size_t kSinkBytes = Block::kPartBytes;

class World {
public:
    explicit World(Plant plant);

    std::shared_mutex order;
    std::array<Place, kPlaces> places;
    std::vector<Graph> graphs; // for `order` alone
    Counts counts;
    char* sink = nullptr; // pinned memory; nothing reads what is copied there

    // Memory of the driver or of a pool above it, checked; nothing when there is none left.
    BlockPtr allocate(unsigned place, std::size_t bytes);
    // `expected`: what the driver must answer. Without success the block lives on.
    void free(BlockPtr block, CUresult expected = CUDA_SUCCESS);
    void free_in_order(BlockPtr block, CUstream stream);

    void put_back(BlockPtr block);
    template <class Fits>
    BlockPtr take(std::mt19937& random, Fits fits);
    // What the context of a place owned is gone with it.
    void forget(unsigned place);
    std::size_t block_count();

    void make_current(unsigned place);
    void open_context(unsigned place);
    void synchronise_all();
    void verify(const Block& block);

private:
    CUdeviceptr take_kept(std::size_t bytes);
    void check_new(CUdeviceptr address, std::size_t bytes);
    void enter(CUdeviceptr address, std::size_t bytes);
    void leave(CUdeviceptr address);

    std::mutex mutex_;
    std::vector<BlockPtr> blocks_;
    std::map<CUdeviceptr, std::size_t> live_;      // all that is allocated, taken out or not
    std::multimap<std::size_t, CUdeviceptr> kept_; // what the planted pool keeps
    Plant plant_;
};

template <class Fits>
BlockPtr World::take(std::mt19937& random, Fits fits)
{
    const std::lock_guard lock(mutex_);
    if (blocks_.empty())
        return nullptr;
    const std::size_t first = random() % blocks_.size();
    for (std::size_t index = 0; index < blocks_.size(); ++index) {
        auto& place = blocks_[(first + index) % blocks_.size()];
        if (!fits(*place))
            continue;
        std::swap(place, blocks_.back());
        BlockPtr taken = std::move(blocks_.back());
        blocks_.pop_back();
        return taken;
    }
    return nullptr;
}

// Where the calling thread is, for messages.
struct Where {
    unsigned seed = 0;
    unsigned actor = 0;
    unsigned step = 0;
};
extern thread_local Where where;

// Ends the program: exit status 1.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);
// The call's result must be this one.
void expect(CUresult wanted, CUresult got, const char* call);
#define MUST(call) ::reuse_race::expect(CUDA_SUCCESS, call, #call)

} // namespace reuse_race
