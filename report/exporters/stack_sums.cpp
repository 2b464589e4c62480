// report/exporters/stack_sums.cpp — see stack_sums.hpp.
#include "report/exporters/stack_sums.hpp"

#include "report/findings/process_end.hpp"

namespace vramscope::report {

StackSums::StackSums(const LogFile& file)
    : log_(begin_replay(file, {.runs_on = is_running(file.header())}, {}, nullptr))
{
}

void StackSums::read(const std::function<void(double)>& progress)
{
    log_->reading.read_ahead(
        log_->replays.heap, {.progress = progress, .interrupted = {}},
        [&](const RecordBatch& batch, const SegmentReplay& pool) { log_->apply(batch, pool); });
    log_->replays.finish();
}

} // namespace vramscope::report
