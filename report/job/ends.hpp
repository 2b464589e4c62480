// report/job/ends.hpp — how processes of a job ended that are not known to have ended well.
#pragma once

#include <vector>

#include "report/model/job.hpp"

namespace vramscope::report {

// By what is said of them; what crashed or failed first comes first.
std::vector<JobEnd> ends_of(const std::vector<JobProcess>& processes);

} // namespace vramscope::report
