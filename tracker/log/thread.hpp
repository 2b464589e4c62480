// tracker/log/thread.hpp — what the recorder keeps for each thread: chunk, deltas, open ranges.
//
// It lives in the thread's static TLS and is touched by that thread alone. `generation` tells
// whether it belongs to the log that is open now: after a fork it does not, and nothing it points
// to may be touched.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/verified_stacks.hpp"
#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"
#include "tracker/log/log_file.hpp"

namespace vramscope::log {

// Ranges that are open before the thread has a chunk: NVTX may be used long before CUDA, or
// without it. They have pages of their own, since thread-local memory is taken from each stack
// of the program.
class PendingRanges {
public:
    bool has_room() const noexcept { return bytes_ != nullptr; }
    void make_room() noexcept { bytes_ = static_cast<char*>(capture::map_pages(kBytes)); }
    void give_room_back() noexcept;

    void push(std::string_view name) noexcept;
    void pop() noexcept;
    template <class Visit>
    void drain(Visit visit) noexcept
    {
        for (std::uint32_t at = 0; at < used_;) {
            const auto length = static_cast<std::uint8_t>(bytes_[at]);
            visit(std::string_view(bytes_ + at + 1, length));
            at += 2u + length;
        }
        for (; unnamed_; --unnamed_)
            visit(std::string_view("…"));
        used_ = 0;
    }

private:
    static constexpr std::size_t kBytes = 4096;
    char* bytes_; // length, text, length, so that pop finds where the last begins
    std::uint32_t used_;
    std::uint32_t unnamed_; // ranges pushed when there was no room
};

// What the thread is doing, so that a call from inside (driver to driver, signal
// handler) is recognised.
enum class Inside : std::uint8_t {
    program = 0,
    driver = 1,   // in a hooked driver call: nested calls are the driver's own
    recorder = 2, // in our code: a nested call comes from a signal handler and is lost
};

// Where a hook was called: what its exported function saw of its caller.
struct CallSite {
    std::uintptr_t return_address;
    std::uintptr_t frame; // canonical frame address; the caller's rbp is at frame - 16
};
// That of the function that it is written in. The frame address makes the compiler keep rbp at
// frame - 16, where verified stacks look for it.
#define VRAMSCOPE_CALL_SITE                                                                        \
    vramscope::log::CallSite                                                                       \
    {                                                                                              \
        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),                             \
            reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) + 16,                     \
    }

struct DriverTimes;

struct Thread {
    std::uint32_t generation;
    Inside inside;
    bool end_watched; // the pthread key is set
    std::uint32_t index;
    std::uint32_t lane;     // the lane that it writes: index of the first thread in it
    std::uint32_t chunks;   // ordinal of the lane's next chunk
    std::uint32_t retry_in; // events to lose before another chunk is tried for
    format::ChunkHeader* chunk;
    std::uint8_t* at;
    std::uint8_t* end;
    format::DeltaState deltas;
    format::Place place;        // as last written to this chunk
    CallSite site;              // the call that the thread is inside
    capture::StackBounds stack; // its own stack; unknown before it joined
    capture::VerifiedStacks* stacks;
    DriverTimes* driver_times; // null: no call was timed yet
    std::uint64_t verified;    // stacks recognised without unwinding
    std::uint32_t last_python; // id of the last stack with functions of Python
    PendingRanges pending;
    ChunkRow row; // the chunks that are mapped for it: `chunk`, and what it wrote and will write
};

extern thread_local constinit Thread this_thread;

} // namespace vramscope::log
