// report/checkpoint/log_replay.hpp — a reading of a log and all that it feeds, perhaps from a
// checkpoint on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/log/log_file.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/replays.hpp"
#include "report/replay/wrong_frees.hpp"

namespace vramscope::report {

struct LogReplay {
    LogReplay(const LogFile& file, const ReadingExtent& extent, const Replays::Wanted& wanted)
        : reading(file, extent),
          replays(reading.tables(), file.header(), reading.clock(), reading.until_ticks(), wanted)
    {
    }

    // All of it, by Reading::read_ahead(); the replays are not finished.
    void read(const ReadingControl& control = {})
    {
        reading.read_ahead(
            replays.heap, control,
            [this](const RecordBatch& batch, const SegmentReplay& pool) { apply(batch, pool); });
    }
    void apply(const RecordBatch& batch, const SegmentReplay& pool)
    {
        replays.apply(batch, pool);
        if (wrong_frees)
            for (const Record& record : batch.records())
                wrong_frees->apply(record);
    }

    Reading reading;
    Replays replays;
    std::optional<WrongFrees> wrong_frees; // of a collected log
    std::uint64_t collected_ticks = 0;     // the moment that its checkpoint is of
    std::size_t checkpoint_bytes = 0;      // of the last one that was read or made
};

// A moment that a reader may give as a time: three digits of a second, and not before it.
inline double seconds_from(std::uint64_t ns) noexcept
{
    return static_cast<double>(ns + 1'000'000) / 1e9;
}

// `store` may be null. A collected log is read from its own checkpoint: Error, if that cannot be
// read, or does not serve. Any other from the store's checkpoint of it, if that serves; else from
// the beginning.
std::unique_ptr<LogReplay> begin_replay(const LogFile& file, const ReadingExtent& extent,
                                        const Replays::Wanted& wanted, CheckpointStore* store);

// For the next one, where so much was read since that it is worth it: when checkpoint_of() may be
// called.
void keep_checkpoint(LogReplay& log, CheckpointStore* store);

} // namespace vramscope::report
