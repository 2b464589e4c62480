// interpose/hooks/unknown_names.hpp — newer names of memory that the program looked up.
//
// They are kept for the log. Look-ups come before there is a log, from any thread: the first
// kMostUnknownNames names are kept in a fixed place, without a lock. Each is written once to each
// log, as an info record; a child of a fork writes all again to its own.
#pragma once

#include <cstddef>

#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

inline constexpr std::size_t kMostUnknownNames = 64;

// The driver answered a look-up of `name`; `version` is what cuGetProcAddress was asked for, 0:
// dlsym was asked.
void remember_unknown_name(const char* name, int version) noexcept;

// Called when a log was opened.
void write_unknown_names(log::Thread& thread) noexcept;

} // namespace vramscope::hooks
