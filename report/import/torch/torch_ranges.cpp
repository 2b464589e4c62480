// report/import/torch/torch_ranges.cpp — by their times; those that are not closed stay open.
#include "report/import/torch/torch_ranges.hpp"

#include <algorithm>

namespace vramscope::report {

TorchRanges::TorchRanges(LogWriter& log, std::uint32_t lane, const TorchClock& clock,
                         const TorchSnapshot& snapshot, std::int64_t device)
    : log_(log), lane_(lane), clock_(clock)
{
    for (const TorchAnnotation& annotation : snapshot.annotations)
        if (annotation.device == device)
            annotations_.push_back(&annotation);
    std::stable_sort(annotations_.begin(), annotations_.end(),
                     [](const auto* a, const auto* b) { return a->time_us < b->time_us; });
}

std::uint64_t TorchRanges::write_until(std::uint64_t time_us, std::uint64_t now)
{
    for (; next_ < annotations_.size(); ++next_) {
        const TorchAnnotation& next = *annotations_[next_];
        if (next.time_us > time_us)
            break;
        now = std::max(now, clock_.ticks(next.time_us, 0));
        if (next.begins) {
            open_.push_back(next.name);
            log_.add(lane_, {now}, format::RangePush{next.name});
        } else if (std::find(open_.begin(), open_.end(), next.name) != open_.end()) {
            close(next.name, now);
        }
    }
    return now;
}

// Ranges that were not ended inside of it end with it.
void TorchRanges::close(const std::string& name, std::uint64_t now)
{
    bool found = false;
    while (!found) {
        found = open_.back() == name;
        open_.pop_back();
        log_.add(lane_, {now}, format::RangePop{});
    }
}

} // namespace vramscope::report
