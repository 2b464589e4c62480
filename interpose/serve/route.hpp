// interpose/serve/route.hpp — device memory of the program: from the pool, or from the driver.
//
// The pool of the current context answers, if one is wanted, the log is open, the context is known,
// no stream is captured and the process has not begun to exit; else the driver, and the pools are
// told. Any thread, inside a hook, with no lock held.
#pragma once

#include "interpose/hooks/call.hpp"
#include "interpose/serve/pools/context_pools.hpp"

namespace vramscope::hooks {

struct Served {
    ContextPool* pool = nullptr; // null: there is none here, and the driver answers
    CUresult result = CUDA_SUCCESS;
    bool pooled = false; // the pool will take it back
    std::uint64_t address = 0;
    std::uint64_t slack = 0; // how much larger its block is than asked for
};
// Where pool_wanted() holds, on a thread that is ready.
Served allocate(Call& call, std::uint64_t bytes) noexcept;
// Where pooling() holds: the driver gave it to the program past the pool, which is told.
void took_from_driver(Call& call, std::uint64_t address, std::uint64_t bytes) noexcept;

// The driver's call for a free of the program's, with another address in the place of its own. It
// refers to a function object that must outlive it.
class DriverFree {
public:
    template <class Free>
    DriverFree(const Free& free) noexcept
        : free_(&free), call_([](const void* object, std::uint64_t address) {
              return (*static_cast<const Free*>(object))(address);
          })
    {
    }
    CUresult operator()(std::uint64_t address) const { return call_(free_, address); }

private:
    const void* free_;
    CUresult (*call_)(const void* object, std::uint64_t address);
};

// A free by the program, where pool_wanted() holds. The pool keeps the block, if it may. If the
// block is not ours or must not be kept, the driver is called with its address; if it is free
// already, with an address that the driver cannot know.
CUresult free_block(Call& call, std::uint64_t address, DriverFree driver_free) noexcept;
// Gives back what a pool keeps too much of. A free only sets Call::to_settle, since its record must
// be written before: others may have its block afterwards.
void settle(ContextPool& owner) noexcept;
// A free that only the driver can judge: on a stream, which may be captured, or without
// a pool here.
CUresult free_past_pool(Call& call, std::uint64_t address, bool captured,
                        DriverFree driver_free) noexcept;

// An address of memory that no program has: the driver says of it what it says of freed memory.
std::uint64_t dead_address() noexcept;

// The block that a pointer of the program's lies in.
struct Found {
    pool::State state = pool::State::foreign; // no pool has it
    ContextPool* pool = nullptr;
    bool whole = true; // the block is all that the driver allocated
    bool exact = true; // it is as large as asked for: what the driver says of it is right
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  // as asked for
    std::uint64_t serial = 0; // unique in the process

    bool is_live() const noexcept { return state == pool::State::live; }
    bool is_dead() const noexcept { return pool && !is_live(); }
};
Found find_block(std::uint64_t pointer) noexcept;
// Its block is not kept at its free.
void pin(const Found& found) noexcept;

} // namespace vramscope::hooks
