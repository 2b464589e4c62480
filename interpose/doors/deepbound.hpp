// interpose/doors/deepbound.hpp — libraries that the program opened with RTLD_DEEPBIND.
//
// Their own libraries come before every preload, so that what they ask of CUDA is not seen. They
// are remembered as they are opened (the stub of dlopen, lookup_stub.S), and looked at when the
// process ends: those that name the driver or its runtime, themselves or through libraries that
// came with them, are named in the log, or to `vramscope run` where there is no log. Where the
// audit door is open, nothing is missed.
#pragma once

namespace vramscope::hooks {

// `path` is as given to dlopen, which has not run yet. Any thread may call.
void remember_deepbound(const char* path) noexcept;

// To be called as the process ends, before that is written to the log.
[[gnu::cold]] void tell_of_deepbound() noexcept;

} // namespace vramscope::hooks
