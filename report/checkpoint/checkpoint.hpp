// report/checkpoint/checkpoint.hpp — what was replayed of a log, so that it need not be read again.
//
// A checkpoint is what the replay of a log knew at one moment, and how far each thread's records
// were read. A replay that begins there and reads the rest of the log ends as one that read all of
// it. It is of one log, and of one version of vramscope; what is read of it is as little trusted as
// a log: see archive.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/log/log_reader.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/replays.hpp"

namespace vramscope::report {

// After Reading::read_ahead(), which was not interrupted; the replays are not finished.
std::string checkpoint_of(Reading& reading, Replays& replays);

// Both are of the same log, and new. Error (bad_input): it is none of this log, or damaged; then
// neither is to be used.
void restore_checkpoint(std::string_view checkpoint, Reading& reading, Replays& replays);

} // namespace vramscope::report
