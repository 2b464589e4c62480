// tracker/log/lanes.hpp — rows of chunks that threads write one after another.
//
// A thread that ends leaves its lane, with the chunk that is open in it, to the next one that is
// born: a log has as many open chunks as threads were alive at once, not as many as ever lived. All
// of this is cold; any thread may call.
#pragma once

#include <cstdint>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::log {

struct Lane {
    static constexpr std::uint32_t kNoChunk = UINT32_MAX;

    std::uint32_t index;        // index of the first thread in it
    std::uint32_t next_ordinal; // ordinal of its next chunk
    std::uint32_t chunk;        // position of the open chunk in the file, or kNoChunk
    std::uint32_t row;          // chunks that are the lane's: the open one, and how many after it
    std::uint32_t committed;    // bytes of records in the open chunk
    format::DeltaState deltas;  // as they are after the last record
    format::Place place;
};

class Lanes {
public:
    // False: no lane is waiting.
    bool take(Lane& lane) noexcept;
    // Without memory to remember it the lane ends, and the rest of its chunk is never used.
    void give(const Lane& lane) noexcept;
    void reset_after_fork() noexcept;

private:
    struct Node {
        Lane lane;
        Node* next;
    };
    capture::Lock lock_;
    capture::Arena arena_;
    Node* waiting_ = nullptr; // the last one given is taken first: its pages are warm
    Node* unused_ = nullptr;
};

} // namespace vramscope::log
