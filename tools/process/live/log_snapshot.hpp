// tools/process/live/log_snapshot.hpp — a copy of a program's log, as it was at one moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "tools/output/output_file.hpp"

namespace vramscope {

// `log`: LiveProcess::door. `ticks`: a moment before this call, of the log's clock; kWholeLog
// (report/log/log_copy.hpp) where the program has ended, of its log. The copy is as private as the
// log itself. `more`: what else is written into it, false where errno says why not; may be empty.
// Error (125), if it cannot be written.
void write_snapshot(const Output& output, const std::filesystem::path& log, std::uint64_t ticks,
                    const std::function<bool(int descriptor)>& more = {});

} // namespace vramscope
