// report/findings/growth/step_names.hpp — what the name of a range or a mark says of it.
#pragma once

#include <string_view>

namespace vramscope::report {

// 2: it is the step of a loop ("train_step", "ProfilerStep#", "iter"); 1: of some loop, a batch or
// an epoch; 0: nothing of the kind.
int says_step(std::string_view name);

// What comes before the work: loading, setting up, warming up.
bool says_preparation(std::string_view name);

// CCCL puts a range around each of its algorithms. The recorder leaves them out by their domain; of
// older logs, and where a library has them in another one, their names tell.
bool is_of_cccl(std::string_view name);

} // namespace vramscope::report
