// report/reach/make_reach.hpp — lost or held: the blocks of a log in the memory of its process.
#pragma once

#include <cstdint>
#include <string>

#include "report/log/log_file.hpp"
#include "report/model/reach.hpp"
#include "report/reach/process_memory.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

struct ReachOptions {
    std::uint64_t until_ticks = UINT64_MAX; // see LogReader::hold_back()
    std::string log_mapping;                // the log's name in the process's own mappings
    bool all_frames = false;
    SymbolizerOptions symbols;
};

Reach make_reach(const LogFile& log, const ProcessMemory& memory, const ReachOptions& options);

} // namespace vramscope::report
