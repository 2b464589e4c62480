// tracker/environment/tell.hpp — what the tracer says to people and to `vramscope run`.
//
// Saying it never harms the program: no signal reaches it because a pipe has no reader or a
// file is at its limit, and nobody waits. What cannot be written at once is dropped. Any
// thread; errno stays.
#pragma once

#include <sys/stat.h>

namespace vramscope::log {

// One line on stderr, "vramscope: …", and the same as a note in the run file. For what must
// not be silent.
[[gnu::format(printf, 1, 2)]] void tell(const char* format, ...) noexcept;

// The run file is the private file that `vramscope run` made. VRAMSCOPE_RUN is
// "NONCE:PATH", and the file's first line is this and the nonce. Any other file that the
// variable names is left alone.
bool is_private(const struct stat& status) noexcept; // its user's alone, under one name
inline constexpr char kRunFileHeading[] = "vramscope-run ";
inline constexpr unsigned kNonceBytes = 32; // hexadecimal digits

// Appends "kind<tab>pid<tab>text" to the run file, if there is one.
void announce(const char* kind, const char* text) noexcept;

} // namespace vramscope::log
