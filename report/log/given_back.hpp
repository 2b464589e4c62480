// report/log/given_back.hpp — which chunks a collector may give back.
#pragma once

#include <vector>

#include "report/log/log_reader.hpp"

namespace vramscope::report {

// Runs of chunks that a reader which begins at `position` never looks at: each was read to its end,
// and its thread has begun another one. What is a hole already is left out. In order.
std::vector<EmptyRun> chunks_to_give_back(const LogFile& file, const LogReader::Position& position);

} // namespace vramscope::report
