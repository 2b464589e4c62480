// report/words/shares.cpp — tenths that rounding down leaves go to the parts that lost the most.
#include "report/words/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

constexpr unsigned kWhole = 1000; // tenths of a per cent

std::string tenths_text(unsigned tenths)
{
    return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

} // namespace

std::string percent(double fraction)
{
    return fmt::format("{:.1f} %", 100 * fraction);
}

std::vector<std::string> shares(const std::vector<std::uint64_t>& parts)
{
    double whole = 0;
    for (const std::uint64_t part : parts)
        whole += static_cast<double>(part);
    std::vector<unsigned> tenths;
    std::vector<double> lost;
    for (const std::uint64_t part : parts) {
        const double exact = whole > 0 ? static_cast<double>(part) / whole * kWhole : 0;
        tenths.push_back(static_cast<unsigned>(exact));
        lost.push_back(exact - tenths.back());
    }
    std::vector<std::size_t> order(parts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
    const unsigned given = std::accumulate(tenths.begin(), tenths.end(), 0u);
    for (std::size_t at = 0; whole > 0 && at < order.size() && at + given < kWhole; ++at)
        ++tenths[order[at]];
    std::vector<std::string> texts;
    for (const unsigned share : tenths)
        texts.push_back(tenths_text(share));
    return texts;
}

} // namespace vramscope::report
