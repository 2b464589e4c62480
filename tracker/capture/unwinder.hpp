// tracker/capture/unwinder.hpp — return addresses of the current thread, innermost first.
//
// libunwind is opened privately (RTLD_LOCAL): as a NEEDED library of a preload it would take over
// the program's C++ exceptions. glibc's backtrace() serves where it is missing, after a library
// was unloaded, because libunwind never forgets what it learnt about an address, and once the
// program has closed libunwind's descriptors. Any thread may call; nothing is allocated and no
// lock of ours is taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracker/format/words.hpp"

namespace vramscope::capture {

inline constexpr std::size_t kMaxFrames = 256;

enum class Unwinder { none, libunwind, glibc };
inline constexpr format::Word<Unwinder> kUnwinders[] = {
    {Unwinder::libunwind, "libunwind"}, {Unwinder::glibc, "glibc"}, {Unwinder::none, "none"}};

// Opens this unwinder, or glibc's where there is no libunwind. It is idempotent. No lock of ours is
// held, since it may wait for that of the loader.
void open_unwinder(Unwinder wanted) noexcept;

// The unwinder that unwind() uses now.
Unwinder current_unwinder() noexcept;

// From here on glibc unwinds: it looks the code up anew each time and keeps no descriptors.
void distrust_libunwind() noexcept;

// Writes at most `capacity` return addresses to `out`, starting with `first`, the return address of
// the hook (what lies below it is our own code). Returns how many it wrote; 0 if `first` was not
// found. `truncated` is set when the stack went on.
std::size_t unwind(std::uintptr_t first, std::uintptr_t* out, std::size_t capacity,
                   bool& truncated) noexcept;

} // namespace vramscope::capture
