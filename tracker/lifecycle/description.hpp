// tracker/lifecycle/description.hpp — what the program was, so that the log explains itself
// elsewhere.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::log {

void write_description(Thread& thread) noexcept;

} // namespace vramscope::log
