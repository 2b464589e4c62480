// report/plan/scale.cpp — lines through the peaks of several runs.
#include "report/plan/scale.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::size_t kMostScaledStacks = 10;
constexpr double kMostValue = 1e15;

const PlanDevice* largest_device(const PlanProcess& process)
{
    const auto found = std::max_element(
        process.devices.begin(), process.devices.end(),
        [](const PlanDevice& a, const PlanDevice& b) { return a.live_peak < b.live_peak; });
    return found == process.devices.end() ? nullptr : &*found;
}

std::uint64_t of_card(const PlanDevice& device)
{
    const PlanPolicy& judged = device.policies.front();
    return judged.smallest_card.value_or(device.base + judged.peak_reserved + device.beside_peak);
}

// What is left of the card for the dimension, where the line is so many bytes higher.
std::uint64_t largest_on(std::uint64_t card, const PlanLine& line, double higher)
{
    const double room = static_cast<double>(card) - line.fixed - higher;
    constexpr double kRounded = 1e-12; // of a line that goes through whole numbers
    return room <= 0 ? 0
                     : static_cast<std::uint64_t>(
                           std::min(room / line.each * (1 + kRounded), kMostValue));
}

PlanScaledCard card_of(std::uint64_t bytes, const PlanLine& line)
{
    PlanScaledCard card{.bytes = bytes, .largest = {}, .least = {}, .most = {}};
    const std::uint64_t largest = line.each > 0 && line.straight ? largest_on(bytes, line, 0) : 0;
    if (largest == 0)
        return card;
    card.largest = largest;
    if (line.spare_runs > 0) {
        card.least = largest_on(bytes, line, line.most_off());
        card.most = largest_on(bytes, line, -line.most_off());
    }
    return card;
}

// The same stack in every run, by its fingerprint.
std::vector<PlanScaledStack> stacks_of(const std::vector<std::uint64_t>& values,
                                       const std::vector<const PlanDevice*>& devices)
{
    std::map<std::string, PlanScaledStack> rows;
    for (std::size_t run = 0; run < devices.size(); ++run) {
        for (const PlanHolder& holder : devices[run]->holders) {
            PlanScaledStack& row = rows[holder.fingerprint];
            if (row.bytes.empty())
                static_cast<CallPlace&>(row) = holder;
            row.bytes.resize(devices.size());
            row.bytes[run] += holder.bytes;
        }
    }
    std::vector<PlanScaledStack> stacks;
    for (auto& [fingerprint, row] : rows) {
        if (std::count(row.bytes.begin(), row.bytes.end(), 0u) > 0)
            continue; // in a run it is not among those that have most: nobody knows what it has
        row.line = fit_line(values, row.bytes);
        stacks.push_back(std::move(row));
    }
    std::stable_sort(stacks.begin(), stacks.end(),
                     [](const PlanScaledStack& a, const PlanScaledStack& b) {
                         return a.line.each > b.line.each;
                     });
    stacks.resize(std::min(stacks.size(), kMostScaledStacks));
    return stacks;
}

} // namespace

Dimension read_dimension(const std::string& text, std::size_t logs)
{
    const auto refuse = [&](const std::string& why) {
        throw Error(Exit::usage, fmt::format("--scale '{}': {}", text, why));
    };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        refuse("write a name and a number for each log: batch=8,16,32");
    Dimension dimension{text.substr(0, equals), {}};
    const char* at = text.data() + equals + 1;
    const char* const end = text.data() + text.size();
    while (true) {
        std::uint64_t value = 0;
        const auto read = std::from_chars(at, end, value);
        if (read.ec != std::errc() || value == 0 || value > 1'000'000'000'000)
            refuse("write a name and a number for each log: batch=8,16,32");
        dimension.values.push_back(value);
        if (read.ptr == end)
            break;
        if (*read.ptr != ',')
            refuse("write a name and a number for each log: batch=8,16,32");
        at = read.ptr + 1;
    }
    if (dimension.values.size() != logs)
        refuse(fmt::format("{} numbers for {} logs", dimension.values.size(), logs));
    const auto [least, most] =
        std::minmax_element(dimension.values.begin(), dimension.values.end());
    if (*least == *most)
        refuse("a line needs two different numbers");
    return dimension;
}

PlanLine fit_line(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& bytes)
{
    const auto count = static_cast<double>(x.size());
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t at = 0; at < x.size(); ++at) {
        mean_x += static_cast<double>(x[at]) / count;
        mean_y += static_cast<double>(bytes[at]) / count;
    }
    double xx = 0;
    double xy = 0;
    for (std::size_t at = 0; at < x.size(); ++at) {
        const double dx = static_cast<double>(x[at]) - mean_x;
        xx += dx * dx;
        xy += dx * (static_cast<double>(bytes[at]) - mean_y);
    }
    PlanLine line;
    line.each = xx > 0 ? xy / xx : 0;
    line.fixed = mean_y - line.each * mean_x;
    if (x.size() < 3)
        return line;
    double squares = 0;
    for (std::size_t at = 0; at < x.size(); ++at) {
        const double off =
            static_cast<double>(bytes[at]) - line.fixed - line.each * static_cast<double>(x[at]);
        squares += off * off;
    }
    line.error = std::sqrt(squares / (count - 2));
    line.spare_runs = x.size() - 2;
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    line.straight = line.error <= static_cast<double>(*most - *least) / 10;
    return line;
}

PlanScale find_scale(const Dimension& dimension, const Plan& plan)
{
    PlanScale scale;
    scale.dimension = dimension.name;
    scale.values = dimension.values;
    std::vector<const PlanDevice*> devices;
    for (const PlanProcess& process : plan.processes) {
        const PlanDevice* const device = largest_device(process);
        if (!device)
            throw Error(Exit::bad_input,
                        fmt::format("{}: no device memory was asked for, so that --scale has "
                                    "nothing to compare",
                                    process.log.string()));
        devices.push_back(device);
        scale.live.push_back(device->live_peak + device->beside_peak);
        scale.reserved.push_back(of_card(*device));
    }
    scale.live_line = fit_line(scale.values, scale.live);
    scale.reserved_line = fit_line(scale.values, scale.reserved);
    scale.stacks = stacks_of(scale.values, devices);
    for (const std::uint64_t card : plan.cards)
        scale.cards.push_back(card_of(card, scale.reserved_line));
    return scale;
}

} // namespace vramscope::report::plan
