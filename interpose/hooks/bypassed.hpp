// interpose/hooks/bypassed.hpp — frameworks whose allocator the program was seen to switch off.
//
// They are kept for the log, which may not be open yet: each is written to each log of the process,
// as an info record, once or twice. Any thread may call.
#pragma once

#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

// `framework` is a name of tracker/format/frameworks.hpp; others are left out.
void remember_bypassed(const char* framework) noexcept;

// Called when a log was opened.
void write_bypassed(log::Thread& thread) noexcept;

} // namespace vramscope::hooks
