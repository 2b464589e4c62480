// tracker/log/nesting.hpp — a hooked call while the thread is already in another one.
//
// Whose is the inner call, and is the outer one still there? It may be the driver's own, or another
// preload's, and means nothing to the log. It may come from a signal handler: that is the
// program's, and is recorded if it interrupted the driver, and counted as lost if it interrupted
// the recorder. Or a handler left the other call by siglongjmp, which then never ends: the thread
// is taken out of it here.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::log {

// Asked for a call from `site` while thread.inside is not Inside::program. True: the call is
// to be recorded, and thread.inside says what the thread returns to afterwards. False: the
// call passes unrecorded.
bool enter_nested(Thread& thread, const CallSite& site, bool from_driver) noexcept;

// False while the thread is in a hooked call. `frame` is that of the function that asks.
bool is_in_program(Thread& thread, std::uintptr_t frame) noexcept;

} // namespace vramscope::log
