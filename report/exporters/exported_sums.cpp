// report/exporters/exported_sums.cpp — see exported_sums.hpp.
#include "report/exporters/exported_sums.hpp"

#include "report/findings/process_end.hpp"

namespace vramscope::report {

ExportedSums::ExportedSums(const LogFile& file)
    : log_(begin_replay(file, {.runs_on = is_running(file.header())}, {}, nullptr))
{
}

void ExportedSums::read(const std::function<void(double)>& progress)
{
    log_->read({.progress = progress, .interrupted = {}});
    log_->replays.finish();
}

} // namespace vramscope::report
