// tracker/lifecycle/description.hpp — records what the program was, for readers elsewhere.
#pragma once

#include "tracker/log/thread.hpp"

namespace vramscope::log {

void write_description(Thread& thread) noexcept;

} // namespace vramscope::log
