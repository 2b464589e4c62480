// report/job/far_off.cpp — by the median, and how far values are from it.
#include "report/job/far_off.hpp"

#include <algorithm>
#include <cmath>

namespace vramscope::report {
namespace {

constexpr std::size_t kFewest = 5; // of fewer, no value is far off
constexpr double kFar = 6;         // robust standard deviations

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace

// Most places have one value in all processes, so that their deviation is 0: then a hundredth of
// the median, and a mebibyte, stand in for it.
FarOff far_off(const Values& values)
{
    FarOff found;
    if (values.size() < kFewest)
        return found;
    std::vector<double> bytes;
    for (const auto& [process, value] : values)
        bytes.push_back(static_cast<double>(value));
    const double usual = median(bytes);
    std::vector<double> deviations;
    for (const double value : bytes)
        deviations.push_back(std::abs(value - usual));
    const double spread = std::max(
        {1.4826 * median(deviations), 0.01 * usual, static_cast<double>(kLeastThatMatters)});
    for (std::size_t at = 0; at < values.size(); ++at)
        if (std::abs(bytes[at] - usual) > kFar * spread)
            (bytes[at] < usual ? found.below : found.above).push_back(values[at].first);
    found.usual = static_cast<std::uint64_t>(usual + 0.5);
    return found;
}

} // namespace vramscope::report
