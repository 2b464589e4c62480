// report/checkpoint/collected.hpp — a log whose older chunks were given back: its checkpoint stands
// for them.
//
// A collector (`vramscope collect`) replays what was written since the last time, makes a
// checkpoint in the log itself, and gives back what it covers. Whoever reads such a log begins
// there, and knows what a reader of the whole log does, but for what only events tell. The format
// is in tracker/format/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "report/checkpoint/log_replay.hpp"

namespace vramscope::report {

// A log is worth a collection when it has grown by that on the disk: the checkpoint of a usual
// server has a third of it, and is made in less time than it takes to replay this.
inline constexpr std::uint64_t kWorthCollecting = 1280 << 10; // bytes

// Error: it is damaged. `log` is collected, and held.
std::string read_collected_checkpoint(const LogFile& log);

// From that checkpoint on. Error: it cannot be read, or is later than the end of `extent`, or does
// not have what is wanted.
std::unique_ptr<LogReplay> begin_collected(const LogFile& file, const ReadingExtent& extent,
                                           const Replays::Wanted& wanted);

// What a collector replays: all that was written, but events after `until_ticks`. From the log's
// checkpoint on, if it has one. Null: that tells of this moment already.
std::unique_ptr<LogReplay> begin_collection(const LogFile& file, std::uint64_t until_ticks);
// When it was read to its end.
std::string checkpoint_of(LogReplay& log);
// Error: it could not be read. What it covers must be kept then.
void check_collected_checkpoint(std::string_view checkpoint, const LogFile& log);

} // namespace vramscope::report
