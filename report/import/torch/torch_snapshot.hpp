// report/import/torch/torch_snapshot.hpp — what a memory snapshot says, of any PyTorch since 2.0.
//
// What a version does not have is absent, and what it has more is skipped. Memory: 40 bytes for
// each event of a trace, 16 for what the pickle remembers of it, and each frame and stack once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vramscope::report {

enum class TorchAction : std::uint8_t {
    alloc,
    free_requested,
    free_completed,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    oom,
    snapshot,
    other, // what later versions may add
};

struct TorchEvent {
    std::uint64_t address = 0;  // in oom: the device's free bytes
    std::uint64_t bytes = 0;    // in snapshot: all that was active
    std::uint64_t time_us = 0;  // the real time; 0: this version has no times
    std::uint32_t stack = 0;    // index of TorchSnapshot::stacks
    std::uint32_t metadata = 0; // index of TorchSnapshot::texts; 0: none
    std::uint32_t stream = 0;   // index of TorchSnapshot::streams
    std::uint16_t pool = 0;     // index of TorchSnapshot::pools
    TorchAction action = TorchAction::other;
};

struct TorchBlock {
    enum class State : std::uint8_t { inactive, allocated, pending };
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; // the size of its place
    std::optional<std::uint64_t> requested;
    std::uint32_t stack = 0;
    State state = State::inactive;
};

struct TorchSegment {
    std::int64_t device = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t stack = 0;
    std::uint32_t stream = 0;
    std::uint16_t pool = 0;
    bool expandable = false;
    bool small = false;
    std::uint64_t first_block = 0; // index of TorchSnapshot::blocks
    std::uint64_t block_count = 0;
};

struct TorchAnnotation {
    std::string name;
    std::int64_t device = 0;
    std::uint64_t time_us = 0;
    bool begins = false;
};

struct TorchFrame {
    std::string function;
    std::string file;
    std::uint64_t line = 0; // 0: not known
};

struct TorchTrace { // one for each device, by its index
    std::uint64_t first_event = 0;
    std::uint64_t event_count = 0;
};

struct TorchSnapshot {
    std::vector<TorchFrame> frames;
    std::vector<std::vector<std::uint32_t>> stacks; // frames, innermost first; 0: not recorded
    std::vector<std::string> texts;                 // what a program wrote to events; 0: nothing
    std::vector<std::uint64_t> streams;             // handles; 0: the default stream
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pools; // 0: that of all; else private
    std::deque<TorchEvent> events; // millions, which do not move when there are more
    std::vector<TorchTrace> traces;
    std::vector<TorchBlock> blocks;
    std::vector<TorchSegment> segments;
    std::vector<TorchAnnotation> annotations;
    std::vector<std::pair<std::string, std::string>> settings; // the allocator's
};

// Error (bad_input) with one line: it is not such a snapshot. The descriptor is a regular file's.
TorchSnapshot read_torch_snapshot(int descriptor, const std::string& name);

} // namespace vramscope::report
