// report/words/growth_words.cpp — bytes where there are any, else blocks.
#include "report/words/growth_words.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "report/model/growth.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

std::string whole_bytes(double bytes)
{
    return human_bytes(static_cast<std::uint64_t>(std::max(1.0, bytes + 0.5)));
}

// What was fitted and may be off by more than a twentieth says by how much.
std::string interval(const GrowthRate& rate)
{
    constexpr double kSmall = 0.05;
    if (rate.most_per_step - rate.least_per_step <= 2 * kSmall * rate.bytes_per_step)
        return "";
    return fmt::format(" ({} to {})", whole_bytes(rate.least_per_step),
                       whole_bytes(rate.most_per_step));
}

} // namespace

std::string rate_words(const GrowthRate& rate)
{
    const std::string unit = terminal_safe(rate.step());
    const char* const faster = rate.speeds_up ? ", ever faster" : "";
    if (rate.bytes_per_step > 0)
        return fmt::format("{} per {}{}{}", whole_bytes(rate.bytes_per_step), unit, interval(rate),
                           faster);
    return fmt::format("{:.3g} of them per {}{}", rate.blocks_per_step, unit, faster);
}

} // namespace vramscope::report
