// tracker/log/outside_checkpoint.hpp — writes a checkpoint into the log of another process while it
// runs, and gives chunks back that it covers.
//
// A collector is one more writer of the log, as `vramscope mark` is: it takes chunks through the
// header's counter, and the traced process knows nothing of it. A checkpoint is whole on the disk
// before it is published, by one store; until then the one before it holds. So it may be killed at
// any moment. See "Collected logs" in tracker/format/README.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope::log {

// `descriptor` is open for reading and writing on a log whose header the caller has checked; he has
// its collector's lock, and that of its readers alone. False: the checkpoint was not published, the
// one before it holds, and errno says why.
bool publish_checkpoint(int descriptor, std::string_view checkpoint) noexcept;

// The space of these chunks is the file system's again: they are zeros. A published checkpoint has
// to cover them. False: errno says why.
bool give_back(int descriptor, std::uint32_t first, std::uint32_t end) noexcept;

// Whether its file system can do that. Changes nothing.
bool can_give_back(int descriptor) noexcept;

} // namespace vramscope::log
