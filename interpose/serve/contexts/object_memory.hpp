// interpose/serve/contexts/object_memory.hpp — what the driver takes of a device for an object.
//
// It is asked before and after it makes one, as around a context (free_around.hpp), but not more
// often than costs a hundredth of the process's time. Nothing is recorded of objects that are made
// at the same time, since nobody knows which took what. Any thread.
#pragma once

#include "interpose/serve/contexts/free_around.hpp"

namespace vramscope::hooks {

class ObjectMemory {
public:
    ObjectMemory() = default;
    ~ObjectMemory();
    ObjectMemory(const ObjectMemory&) = delete;
    ObjectMemory& operator=(const ObjectMemory&) = delete;

    void before() noexcept;
    // Behind the alloc record of the object.
    void after(Call& call, std::uint64_t handle) noexcept;

private:
    std::uint64_t number_ = 0; // of this making in the process; 0: before() was not called
    std::uint64_t ticks_ = 0;
    FreeMemory before_;
};

} // namespace vramscope::hooks
