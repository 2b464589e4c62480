// report/checkpoint/log_replay.hpp — a reading of a log and all that it feeds, perhaps from a
// checkpoint on.
#pragma once

#include <cstddef>
#include <memory>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/log/log_file.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/replays.hpp"

namespace vramscope::report {

struct LogReplay {
    LogReplay(const LogFile& file, const ReadingExtent& extent, const Replays::Wanted& wanted)
        : reading(file, extent), replays(reading.tables(), file.header(), reading.clock(), wanted)
    {
    }

    Reading reading;
    Replays replays;
    std::size_t checkpoint_bytes = 0; // of the last one that was read or made
};

// `store` may be null. From its checkpoint of this log, if that serves; else from the beginning.
std::unique_ptr<LogReplay> begin_replay(const LogFile& file, const ReadingExtent& extent,
                                        const Replays::Wanted& wanted, CheckpointStore* store);

// For the next one, where so much was read since that it is worth it: when checkpoint_of() may be
// called.
void keep_checkpoint(LogReplay& log, CheckpointStore* store);

} // namespace vramscope::report
