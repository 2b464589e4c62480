// interpose/serve/contexts/free_around.hpp — what making a context took of its device.
//
// The driver is asked how much memory is free before and after the call, where it can be asked: in
// a context that is current and lies on the device. Of the first context of a device it is so never
// known. Nothing is asked where VRAMSCOPE_DEVICE_MEMORY is never, while a stream may be captured,
// in an exit, without a pool (which alone knows of captures), or once an answer took longer than
// 200 us.
#pragma once

#include "interpose/serve/contexts/contexts.hpp"

namespace vramscope::hooks {

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
