// report/checkpoint/log_replay.cpp — whether a checkpoint serves, and what is not in it.
#include "report/checkpoint/log_replay.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "report/checkpoint/checkpoint.hpp"
#include "report/checkpoint/collected.hpp"
#include "report/error.hpp"

namespace vramscope::report {
namespace {

using Kind = CheckpointStore::Kind;

std::unique_ptr<LogReplay> restored(std::string_view checkpoint, const LogFile& file,
                                    const ReadingExtent& extent, const Replays::Wanted& wanted)
{
    auto log = std::make_unique<LogReplay>(file, extent, wanted);
    restore_checkpoint(checkpoint, log->reading, log->replays);
    log->checkpoint_bytes = checkpoint.size();
    return log;
}

// Behind the checkpoint. None: memory from before it turns out to be a segment, which the
// checkpoint counts as the program's.
std::optional<SegmentBirths> births_behind(LogReplay& log, std::uint64_t checkpoint_ticks)
{
    EachWatch<> nobody;
    log.replays.heap.watch(nobody);
    SegmentBirths births = log.reading.find_births(log.replays.heap, log.reading.until_ticks());
    const auto is_behind = [&](const auto& birth) { return birth.first.first > checkpoint_ticks; };
    if (!std::all_of(births.begin(), births.end(), is_behind))
        return std::nullopt;
    return births;
}

std::unique_ptr<LogReplay> resumed(std::string_view checkpoint, const LogFile& file,
                                   const ReadingExtent& extent, const Replays::Wanted& wanted)
{
    std::unique_ptr<LogReplay> log = restored(checkpoint, file, extent, wanted);
    if (extent.follows)
        return log;
    if (file.header().suballocated == 0) {
        log->reading.expect_segments({});
        return log;
    }
    std::optional<SegmentBirths> births = births_behind(*log, moment_of(checkpoint));
    if (!births)
        return nullptr;
    log = restored(checkpoint, file, extent, wanted);
    log->reading.expect_segments(std::move(*births));
    return log;
}

} // namespace

std::unique_ptr<LogReplay> begin_replay(const LogFile& file, const ReadingExtent& extent,
                                        const Replays::Wanted& wanted, CheckpointStore* store)
{
    if (file.collected())
        return begin_collected(file, extent, wanted);
    for (const Kind kind : {Kind::late, Kind::exact}) {
        if (!store || (kind == Kind::late && !extent.follows))
            continue;
        const std::string checkpoint = store->find(file.header(), kind);
        if (checkpoint.empty())
            continue;
        try {
            if (std::unique_ptr<LogReplay> log = resumed(checkpoint, file, extent, wanted))
                return log;
        } catch (const Error&) {
            // it is damaged, or would not serve
        }
    }
    return std::make_unique<LogReplay>(file, extent, wanted);
}

void keep_checkpoint(LogReplay& log, CheckpointStore* store)
{
    constexpr std::size_t kFewestBytes = 16 << 20; // they take a fifth of a second to read
    constexpr std::size_t kTimes = 4;              // so that little time goes into checkpoints
    const format::FileHeader& header = log.reading.file().header();
    const std::size_t least = std::max(kFewestBytes, kTimes * log.checkpoint_bytes);
    if (!store || log.wrong_frees || log.reading.chunks_read() < least / header.chunk_bytes)
        return;
    const Kind kind = knows_segments(log.reading, log.replays) ? Kind::exact : Kind::late;
    const std::string checkpoint = checkpoint_of(log.reading, log.replays);
    log.reading.count_from_here();
    log.checkpoint_bytes = checkpoint.size();
    store->keep(header, kind, checkpoint);
}

} // namespace vramscope::report
