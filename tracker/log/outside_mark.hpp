// tracker/log/outside_mark.hpp — writes a mark into the log of another process while it runs.
//
// `vramscope mark` is one more writer of the log, beside the threads of the traced process, which
// know nothing of it: it takes a thread index and a chunk through the header's counters as they do.
// Chunks of marks have tid 0. They are used again by later marks: a mark costs its bytes, not a
// chunk; the disk holds only as much of a chunk as is needed.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tracker/format/layout.hpp"
#include "tracker/format/records.hpp"

namespace vramscope::log {

inline constexpr std::size_t kMostMarkBytes = 1000;

// `descriptor` is open for reading and writing on a log whose header the caller has checked. Longer
// names are cut. False: the mark was not written, and errno says why. Any number of processes may
// do this at once; none waits for another.
bool append_mark(int descriptor, std::string_view name) noexcept;

// What a search of the process's memory found, in chunks of its own. `ticks`: when it began.
bool append_search(int descriptor, std::uint64_t ticks, const format::Searched& searched,
                   std::span<const format::Reached> found) noexcept;

} // namespace vramscope::log
