// interpose/doors/deepbound.hpp — libraries that the program opened with RTLD_DEEPBIND.
//
// Their own libraries come before every preload, so that what they ask of CUDA is not seen. They
// are remembered as they are opened (the stub of dlopen, lookup_stub.S), and looked at when the
// process ends: those that name the driver or its runtime, themselves or through libraries that
// came with them, are named in the log, or to `vramscope run` where there is no log. Where the
// audit door is open, nothing is missed.
#pragma once

namespace vramscope::hooks {

// `path` as given to dlopen, which is not done yet. Any thread.
void remember_deepbound(const char* path) noexcept;

// As the process ends, before the log is told of it.
void tell_of_deepbound() noexcept;

} // namespace vramscope::hooks
