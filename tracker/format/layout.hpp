// tracker/format/layout.hpp — the fixed parts of a log file: the file header and the chunk header.
//
// The traced process maps both MAP_SHARED and updates them in place, so their fields are what is
// left after SIGKILL. Little-endian, naturally aligned; README.md beside this file is the
// byte-level specification. Units: bytes; ticks of the clock that `clock` names; ns of
// CLOCK_MONOTONIC or, where named so, of real time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracker/format/words.hpp"

namespace vramscope::format {

inline constexpr char kMagic[8] = {'V', 'R', 'A', 'M', 'S', 'L', 'O', 'G'};
inline constexpr std::uint16_t kMajorVersion = 4;          // a reader refuses a newer major
inline constexpr std::uint16_t kMinorVersion = 2;          // additions that an older reader skips
inline constexpr std::uint16_t kOldestMajorVersion = 3;    // read as if it were of this version
inline constexpr std::uint16_t kCollectedMajorVersion = 5; // of logs that were collected, alone
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
inline constexpr std::uint32_t kChunkMagic = 0x4b435356;      // "VSCK"
inline constexpr std::uint32_t kCheckpointMagic = 0x50435356; // "VSCP"

enum class Clock : std::uint32_t {
    monotonic = 1, // a tick is a nanosecond of CLOCK_MONOTONIC
    tsc = 2,       // a tick is one of the invariant time stamp counter
};
template <>
struct Words<Clock> {
    static constexpr Word<Clock> kAll[] = {{Clock::tsc, "tsc"}, {Clock::monotonic, "monotonic"}};
    static constexpr const char* kOtherwise = "monotonic";
};

// How the process ended, as far as the process itself could write it down.
enum class End : std::uint32_t {
    // Still running, or killed, crashed or replaced by exec: see wait_status and exec_seen.
    unknown = 0,
    exit = 1, // exit() or return from main; end_status is the exit status
    quick_exit = 2,
    underscore_exit = 3, // _exit or _Exit
};

// Reasons for which an event was not written. They are indexes into FileHeader::lost.
enum class Lost : std::uint32_t {
    no_space = 0,   // the disk is full, or the log could not grow
    no_thread = 1,  // no memory for the state of one more thread
    signal = 2,     // a hooked call from a signal handler that interrupted the recorder itself
    table_full = 3, // the stack or string table is full
    ended = 4,      // the recorder was shut down
    log_limit = 5,  // the log had grown to VRAMSCOPE_MAX_LOG
};
inline constexpr std::size_t kLostReasons = 8;
inline constexpr Word<Lost> kLost[] = {
    {Lost::no_space, "no-space"}, {Lost::no_thread, "no-thread"},
    {Lost::signal, "signal"},     {Lost::table_full, "table-full"},
    {Lost::ended, "ended"},       {Lost::log_limit, "log-limit"}};
constexpr const char* name(Lost reason) noexcept
{
    return word_of(kLost, reason);
}

// Chunks that follow each other, which a checkpoint is written into. None: 0 chunks.
struct CheckpointRow {
    std::uint32_t first;
    std::uint32_t chunks;
};

struct FileHeader {
    char magic[8];
    std::uint16_t major;
    std::uint16_t minor;
    std::uint32_t byte_order;   // kByteOrder
    std::uint32_t header_bytes; // kHeaderBytes
    std::uint32_t chunk_bytes;  // kChunkBytes
    std::uint32_t pid;
    std::uint32_t parent_pid;
    Clock clock;
    std::uint32_t chunks; // chunks handed out; the file holds at most so many
    // Field 22 of /proc/pid/stat, which tells this process from a later one with its pid.
    std::uint64_t process_start;
    std::uint64_t start_real_ns; // CLOCK_REALTIME when the log was opened
    std::uint64_t start_ns;      // CLOCK_MONOTONIC at the same moment
    std::uint64_t start_ticks;   // ticks at the same moment
    std::uint64_t latest_ns;     // a later pair, renewed now and then: two pairs give ns per tick
    std::uint64_t latest_ticks;
    // When the first exit handler ran; 0: not yet. Frees may follow, from static destructors.
    std::uint64_t exit_began_ticks;
    End end;
    std::int32_t end_status;
    std::uint32_t waited;     // 1: `vramscope run` waited for the process, wait_status is valid
    std::int32_t wait_status; // what waitpid(2) gave
    std::uint32_t exec_seen;  // 1: `vramscope run` saw another program image start in this process
    std::uint32_t threads;    // thread indexes handed out
    std::uint64_t lost[kLostReasons];
    std::uint64_t stacks_verified; // stacks taken without unwinding
    std::uint64_t stacks_unwound;
    // How often a verified stack differed from the unwound one, so that verification
    // was turned off.
    std::uint64_t verify_mismatches;
    std::uint64_t snapshot_ticks; // not 0: a copy of the log as it was then, its program running
    std::uint64_t suballocated;   // 1: it has blocks that an allocator cut from device memory
    // Nodes of PyTorch's autograd that were made, by functions of Python that are known, or not.
    std::uint64_t nodes_with_origin;
    std::uint64_t nodes_without_origin;
    std::uint64_t python_ended_ticks; // when the interpreter was first seen to end; 0: not yet
    // Chunks that got their magic, counted after it: where fewer are found, others were lost. Since
    // minor version 1.
    std::uint32_t chunks_begun;
    std::uint32_t unused;
    // When the log could not grow for the first time, since the disk was full or for its limit; 0:
    // it could. Since minor version 2.
    std::uint64_t full_ticks;
    // Of a collected log: the position of the checkpoint's first chunk + 1 in the low 32 bits, and
    // above them how many were published; stored last. 0: there is none.
    std::uint64_t checkpoint;
    CheckpointRow checkpoint_rows[2]; // its chunks, and those of the next or the last one
    std::uint8_t reserved[kHeaderBytes - 288];
};
static_assert(sizeof(FileHeader) == kHeaderBytes);
static_assert(offsetof(FileHeader, process_start) == 40);
static_assert(offsetof(FileHeader, end) == 96);
static_assert(offsetof(FileHeader, lost) == 120);
static_assert(offsetof(FileHeader, full_ticks) == 256);
static_assert(offsetof(FileHeader, checkpoint_rows) == 272);

// A chunk is written by one thread at a time and is read on its own: deltas start from
// zero in each.
struct ChunkHeader {
    std::uint32_t magic;      // kChunkMagic once the chunk is in use
    std::uint32_t index;      // position in the file
    std::uint32_t lane;       // index of the first of the threads that write it in turn
    std::uint32_t ordinal;    // 0, 1, 2 … among the chunks of that lane
    std::uint64_t base_ticks; // first record's time is a delta from here
    std::uint64_t base_ns;    // CLOCK_MONOTONIC at base_ticks
    // Bytes of whole records after this header; stored with release order, last.
    std::uint32_t committed;
    std::uint32_t tid;
    // A free whose driver call has not come back, or was never written down: the process ended in
    // between. Then it is not known whether the block is free.
    std::uint64_t pending_address;
    std::uint64_t pending_ticks;
    std::uint32_t pending_stack;
    std::uint32_t pending_api; // id + 1, stored with release order, last; 0: there is none
};
static_assert(sizeof(ChunkHeader) == 64);
static_assert(offsetof(ChunkHeader, committed) == 32);
static_assert(offsetof(ChunkHeader, pending_address) == 40);

// A chunk of a checkpoint: its bytes follow, as many as there is room for.
struct CheckpointChunk {
    std::uint32_t magic;   // kCheckpointMagic
    std::uint32_t index;   // position in the file
    std::uint32_t ordinal; // 0, 1, 2 … of the checkpoint
    std::uint32_t unused;
    std::uint64_t number; // of the checkpoint: the first that was published is 1
    std::uint64_t bytes;  // of the whole checkpoint
    std::uint8_t reserved[32];
};
static_assert(sizeof(CheckpointChunk) == sizeof(ChunkHeader));

inline constexpr std::size_t kChunkPayloadBytes = kChunkBytes - sizeof(ChunkHeader);

} // namespace vramscope::format
