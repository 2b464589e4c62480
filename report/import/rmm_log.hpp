// report/import/rmm_log.hpp — the log that RMM's logging resource writes, as a log of ours.
//
// Lines of Thread,Time,Action,Pointer,Size,Stream: allocations of one device, without stacks. Read
// twice, in memory that goes with what is alive.
#pragma once

#include <string>
#include <string_view>

#include "report/import/output/imported.hpp"

namespace vramscope::report {

// Whether a file that begins like this is one.
bool is_rmm_log(std::string_view head) noexcept;

// A line that no such log has is an Error (bad_input), which names it. False: the log could not be
// written, and errno says why.
bool write_rmm_log(int recording, const std::string& name, const std::string& program, int log,
                   Imported& imported);

} // namespace vramscope::report
