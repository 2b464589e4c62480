// report/text/churn.hpp — how a program allocates, as text.
#pragma once

#include "report/text/output.hpp"

namespace vramscope::report {

// Of each process: rates, the driver's time, what could have been kept, histograms, places.
void write_churn_of(TextOutput& out, const Process& process, bool name_process);

} // namespace vramscope::report
