// report/job/rank_process.cpp — by who started whom, and by time.
#include "report/job/rank_process.hpp"

namespace vramscope::report {

// A process that a rank starts has the rank's environment, and runs beside it. Their logs may lie
// behind one another all the same, as each begins with the first call of CUDA. A launcher that
// starts a rank again waits for the end of the one before, and is the parent of both.
bool are_one_rank(const RankProcess& one, const RankProcess& other)
{
    if (one.job != other.job || one.host != other.host || one.started_ns == 0 ||
        other.started_ns == 0)
        return false;
    if (one.pid == other.pid)
        return one.started_ns < other.started_ns ? one.replaced : other.replaced;
    return one.parent_pid == other.pid || other.parent_pid == one.pid ||
           (one.started_ns <= other.last_seen_ns && other.started_ns <= one.last_seen_ns);
}

} // namespace vramscope::report
