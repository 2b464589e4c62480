// tools/process/live/checkpoint_cache.cpp — a log is told by what its header says.
#include "tools/process/live/checkpoint_cache.hpp"

#include <fmt/format.h>

#include "tracker/format/layout.hpp"

namespace vramscope {
namespace {

constexpr UserCache::Limits kLimits{
    .files = 32, .bytes = 256 << 20, .age = std::chrono::hours(7 * 24)};

std::string name_of(const format::FileHeader& log, report::CheckpointStore::Kind kind)
{
    return fmt::format("{}-{}-{:x}-{:x}{}", log.pid, log.process_start, log.start_real_ns,
                       UserCache::stamp_of_this_build(),
                       kind == report::CheckpointStore::Kind::exact ? "" : ".late");
}

} // namespace

CheckpointCache::CheckpointCache() : files_("logs", ".checkpoint", kLimits) {}

std::string CheckpointCache::find(const format::FileHeader& log, Kind kind)
{
    return files_.find(name_of(log, kind));
}

void CheckpointCache::keep(const format::FileHeader& log, Kind kind, std::string_view checkpoint)
{
    files_.keep(name_of(log, kind), checkpoint);
}

} // namespace vramscope
