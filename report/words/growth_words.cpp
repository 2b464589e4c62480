// report/words/growth_words.cpp — bytes where there are any, else blocks.
#include "report/words/growth_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>

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

std::tm local_time(std::time_t seconds)
{
    std::tm local{};
    ::localtime_r(&seconds, &local);
    return local;
}

} // namespace

std::string step_noun(std::string_view step)
{
    return step == GrowthRate::kCall ? "allocation" : terminal_safe(step);
}

std::string rate_words(const GrowthRate& rate)
{
    const char* const faster = rate.speeds_up ? ", ever faster" : "";
    if (rate.bytes_per_step == 0 && rate.blocks_per_step > 0)
        return fmt::format("{:.3g} of them per {}{}", rate.blocks_per_step,
                           terminal_safe(rate.step()), faster);
    const std::string unit = step_noun(rate.step());
    return rate.bytes_per_step > 0 ? fmt::format("{} per {}{}{}", whole_bytes(rate.bytes_per_step),
                                                 unit, interval(rate), faster)
                                   : fmt::format("less than 1 B per {}", unit);
}

std::string percent_sure(const GrowthRate& rate)
{
    const double percent = std::min(std::floor(rate.confidence * 1000) / 10, 99.9);
    return fmt::format("{:.1f} %", percent);
}

std::string since_words(const GrowthRate& rate, std::uint64_t opened_real_ns)
{
    const std::tm begin =
        local_time(static_cast<std::time_t>((opened_real_ns + rate.first_ns) / 1'000'000'000));
    const std::tm now = local_time(std::time(nullptr));
    const bool today = begin.tm_yday == now.tm_yday && begin.tm_year == now.tm_year;
    char text[sizeof "2026-11-27 14:02"];
    std::strftime(text, sizeof text, today ? "%H:%M" : "%Y-%m-%d %H:%M", &begin);
    return fmt::format("since {}, {} sure", text, percent_sure(rate));
}

} // namespace vramscope::report
