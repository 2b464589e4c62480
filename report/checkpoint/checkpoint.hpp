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
#include "report/replay/wrong_frees.hpp"

namespace vramscope::report {

// After Reading::read_ahead(), which was not interrupted, or go_on(), which left nothing; the
// replays are not finished. `wrong_frees`: those of a collected log; else null.
std::string checkpoint_of(Reading& reading, Replays& replays, WrongFrees* wrong_frees = nullptr);

// Whether the checkpoint will serve every reading: one that follows a log finds out late what an
// allocator of the program's cuts, and its peaks differ by that.
bool knows_segments(const Reading& reading, const Replays& replays);

// The moment up to which it was read, of one that was restored.
std::uint64_t moment_of(std::string_view checkpoint);

// All are of the same log, and new. Error (bad_input): it is none of this log, or damaged, or
// would not serve this reading; then none is to be used.
void restore_checkpoint(std::string_view checkpoint, Reading& reading, Replays& replays,
                        WrongFrees* wrong_frees = nullptr);

} // namespace vramscope::report
