// tracker/environment/tell.hpp — what the tracer says to people and to `vramscope run`.
//
// Saying it never harms the program: no signal reaches it because a pipe has no reader or a file is
// at its limit, and no thread waits. What cannot be written at once is dropped. Any thread may
// call; errno stays as it was.
#pragma once

#include <sys/stat.h>

namespace vramscope::log {

// Writes one line to stderr, "vramscope: …", and the same as a note to the run file. It is for what
// must not pass in silence. Descriptor 2 is stderr as long as it is the file that it was when this
// library was loaded, or a terminal: a program that closed it may have a file of its own there.
[[gnu::format(printf, 1, 2)]] void tell(const char* format, ...) noexcept;

// When the library is loaded.
void keep_stderr() noexcept;

// The run file is the private file that `vramscope run` made. VRAMSCOPE_RUN is
// "NONCE:PATH", and the file's first line is this and the nonce. Any other file that the
// variable names is left alone. A process that gave up root cannot open it: it makes a file of its
// own beside it, "PATH.UID", which begins alike.
// True: only its user may use the file, and it has one name.
bool is_private(const struct stat& status) noexcept;
inline constexpr char kRunFileHeading[] = "vramscope-run ";
inline constexpr unsigned kNonceBytes = 32; // hexadecimal digits

// Appends "kind<tab>pid<tab>text" to the run file, if there is one.
void announce(const char* kind, const char* text) noexcept;

} // namespace vramscope::log
