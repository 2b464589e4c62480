// report/log/log_copy.hpp — a copy of a log as it was at one moment, while its program writes on.
#pragma once

#include <cstdint>

#include "report/log/log_file.hpp"

namespace vramscope::report {

// In the place of a moment: all of the log of a program that has ended.
inline constexpr std::uint64_t kWholeLog = UINT64_MAX;

// Writes the copy to `descriptor`, an empty file: of each chunk the records up to `ticks`, a moment
// before `log` was opened or refreshed; FileHeader::snapshot_ticks says so. False: errno says why.
bool copy_log(const LogFile& log, std::uint64_t ticks, int descriptor);

} // namespace vramscope::report
