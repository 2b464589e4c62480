// interpose/serve/route.hpp — who answers for device memory: the pool of the current context, or
// the driver.
//
// The pool, if one is wanted, the log is open, the context is known, no stream is captured and the
// process has not begun to exit; else the driver, and the pools are told. Any thread, inside a
// hook, with no lock held.
#pragma once

#include "interpose/hooks/call.hpp"
#include "interpose/serve/context_pools.hpp"

namespace vramscope::hooks {

// The pool for what the program allocates or frees now. Null: the driver answers.
ContextPool* pool_here(Call& call) noexcept;

struct Served {
    CUresult result = CUDA_SUCCESS;
    std::uint64_t address = 0;
    bool pooled = false;     // its free is the pool's
    std::uint64_t slack = 0; // what its block is larger than asked for
};
Served allocate(Call& call, ContextPool& here, std::uint64_t bytes) noexcept;
// The driver gave it to the program past the pool, which is told.
void took_from_driver(Call& call, std::uint64_t address, std::uint64_t bytes) noexcept;

// What a free of the program's is to do.
enum class FreeRoute : std::uint8_t {
    driver,  // it is nothing of ours
    kept,    // done: the driver need not know
    leaves,  // the driver frees it; then let_go()
    dead,    // it is free already: the driver is shown an address that it cannot know
    refused, // part of a segment, which the driver cannot free; not for callers
    asked,   // such a part, where the driver might tell an error: keep_part(), if all that it says
             // of an address that it cannot know is that
};
struct Leaving { // only of a block that leaves, or is refused
    ContextPool* pool;
    pool::Detached block;
    std::uint64_t ticks;
};
FreeRoute route_free(Call& call, std::uint64_t address, Leaving& leaving) noexcept;
FreeRoute keep_part(std::uint64_t address, Leaving& leaving) noexcept;
FreeRoute route_free_async(std::uint64_t address, bool captured, Leaving& leaving) noexcept;
// `result` is the driver's, and is handed back: the block is gone, or the pool's again.
CUresult let_go(Call& call, const Leaving& leaving, CUresult result) noexcept;

// Memory that no program has: what the driver says of it is what it says of freed memory.
std::uint64_t dead_address() noexcept;

// The block that a pointer of the program's lies in.
enum class Standing : std::uint8_t { foreign, live, dead };
struct Found {
    Standing standing = Standing::foreign;
    ContextPool* pool = nullptr;
    bool whole = true; // the block is all that the driver allocated
    bool exact = true; // and no larger than asked for: what the driver says of it is right
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // as asked for
    std::uint64_t serial = 0; // unique in the process
};
Found find_block(std::uint64_t pointer) noexcept;
// Its block is not kept at its free.
void pin(const Found& found) noexcept;

} // namespace vramscope::hooks
