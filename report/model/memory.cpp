// report/model/memory.cpp — two ratios and the words.
#include "report/model/memory.hpp"

namespace vramscope::report {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) noexcept
{
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

double DeviceReport::utilisation_of_peaks() const noexcept
{
    return ratio(peak_allocated(), peak_reserved());
}

double DeviceReport::utilisation_at_reserved_peak() const noexcept
{
    return ratio(at_reserved_peak.parts.allocated, peak_reserved());
}

const char* name(AdviceKind kind) noexcept
{
    switch (kind) {
    case AdviceKind::never_freed:
        return "never-freed";
    case AdviceKind::released_late:
        return "released-late";
    case AdviceKind::allocated_early:
        return "allocated-early";
    case AdviceKind::redundant_pairs:
        break;
    }
    return "redundant-pairs";
}

} // namespace vramscope::report
