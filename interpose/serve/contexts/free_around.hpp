// interpose/serve/contexts/free_around.hpp — how much memory is free around what takes some of it.
//
// The driver is asked before and after the call, where it can be asked: in a context that is
// current and lies on the device. Of the first context of a device it is so never known. Nothing is
// asked where VRAMSCOPE_DEVICE_MEMORY is off, while a stream may be captured, in an exit, without
// a pool (which alone knows of captures), or once answers took longer than 200 us (patience.hpp).
#pragma once

#include "interpose/serve/contexts/contexts.hpp"

namespace vramscope::hooks {

// Of the current context's device; a total of 0: it was not asked.
struct FreeMemory {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
};
FreeMemory ask_free_memory() noexcept;
// Whether to ask so costs less than a hundredth of the process's time; false before it has a log.
// Contexts are rare, and are always asked for.
bool may_ask_often() noexcept;

// What making a context took of its device.
class FreeAround {
public:
    // Not called, where the context is known: then nothing is asked afterwards either.
    void before(CUdevice device) noexcept;
    // What a record of the context then says.
    format::ContextOpened after(format::Opening opening) const noexcept;

private:
    CUdevice device_ = -1;
    std::uint64_t free_ = 0;
};

} // namespace vramscope::hooks
