// report/text/live_lines.cpp — a program's head, and its row among others.
#include "report/text/live_lines.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kLeastScreenWidth = 20;

std::string clipped(std::string_view text, std::size_t width)
{
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
        if (begins && used++ == width)
            return std::string(text.substr(0, at));
    }
    return std::string(text);
}

std::string age(std::uint64_t ns)
{
    const std::uint64_t seconds = ns / 1'000'000'000;
    if (seconds < 60)
        return fmt::format("{}.{} s", seconds, ns / 100'000'000 % 10);
    if (seconds < 3600)
        return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
    return fmt::format("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string rate(double per_second)
{
    return grouped(static_cast<std::uint64_t>(std::max(per_second, 0.0) + 0.5));
}

// A bar of 20 cells for how full a device is.
std::string gauge(std::uint64_t part, std::uint64_t whole)
{
    constexpr std::size_t kCells = 20;
    const double fraction = static_cast<double>(part) / static_cast<double>(whole);
    const auto full = static_cast<std::size_t>(
        std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(kCells)));
    return fmt::format("[{:<20}] {:3.0f} %", std::string(full, '|'), 100 * fraction);
}

std::string host_part(std::uint64_t bytes, std::uint64_t blocks)
{
    return blocks == 0
               ? ""
               : fmt::format(", host {} in {}", human_bytes(bytes), counted(blocks, "block"));
}

std::string mark_of_end(const LiveProgram& program)
{
    return program.ended ? " has ended" : "";
}

} // namespace

LiveLines::LiveLines(const LiveStyle& style)
    : style_(style), width_(std::max(style.width, kLeastScreenWidth))
{
}

void LiveLines::add_head(const LiveProgram& program)
{
    const LiveState& state = program.state;
    bold(fmt::format("{} (process {}){}, {} {}", terminal_safe(state.program), state.pid,
                     mark_of_end(program), program.ended ? "after" : "up", age(state.age_ns)));
    if (state.fraction_read < 1)
        line(fmt::format("  {:.0f} % of its log is read: this is what it held at {}",
                         std::floor(100 * state.fraction_read), age(state.read_to_ns)));
    line(fmt::format("  holds  {:>10} in {}{}", human_bytes(state.device_bytes),
                     counted(state.device_blocks, "block"),
                     host_part(state.host_bytes, state.host_blocks)));
    line(fmt::format("  peak   {:>10} requested{}", human_bytes(state.peak_device_bytes),
                     state.peak_host_bytes > 0 ? ", host " + human_bytes(state.peak_host_bytes)
                                               : ""));
    if (state.fraction_read == 1)
        line(fmt::format("  rate   {:>10} events/s, {} allocations/s, {} frees/s",
                         rate(program.rates.events), rate(program.rates.allocations),
                         rate(program.rates.frees)));
    for (const LiveDevice& device : state.devices)
        add_device(device);
    for (const Headline& finding : state.findings) {
        line(fmt::format("  {}{}", capitals(finding.title), finding.rest));
        if (finding.kind == HeadlineKind::growth && !state.growing.empty())
            line("    " + since_words(state.growing.front().rate, state.opened_real_ns));
    }
    if (state.lost_events > 0)
        line(fmt::format("  {} not recorded: what is held may be more or less",
                         counted(state.lost_events, "event")));
}

void LiveLines::add_table_head()
{
    bold(fmt::format("{:>10} {:>9} {:>14} {:>10}  {}", "holds", "blocks", "peak requested",
                     "events/s", "program"));
}

void LiveLines::add_row(const LiveProgram& program, bool chosen)
{
    const LiveState& state = program.state;
    const std::string text = fmt::format(
        "{:>10} {:>9} {:>14} {:>10}  {} (process {}){}", human_bytes(state.device_bytes),
        grouped(state.device_blocks), human_bytes(state.peak_device_bytes),
        rate(program.rates.events), terminal_safe(state.program), state.pid, mark_of_end(program));
    if (chosen)
        reversed(text);
    else
        line(text);
}

void LiveLines::line(std::string_view text)
{
    lines_.push_back(clipped(text, width_));
}

void LiveLines::bold(std::string_view text)
{
    line(text);
    if (style_.color)
        lines_.back() = "\x1b[1m" + lines_.back() + "\x1b[0m";
}

void LiveLines::reversed(std::string_view text)
{
    line(text);
    if (style_.color)
        lines_.back() = "\x1b[7m" + lines_.back() +
                        std::string(width_ - columns(lines_.back()), ' ') + "\x1b[0m";
}

std::size_t LiveLines::room_behind(std::string_view text) const
{
    constexpr std::size_t kLeast = 20;
    const std::size_t taken = columns(text);
    return width_ > taken + kLeast ? width_ - taken : kLeast;
}

void LiveLines::add_device(const LiveDevice& device)
{
    const std::string name =
        device.ordinal < 0 ? "device ?" : fmt::format("device {}", device.ordinal);
    line(fmt::format("  {:<9}{:>8} in {}{}{}", name, human_bytes(device.held_bytes),
                     counted(device.blocks, "block"),
                     device.total_bytes > 0 ? " " + gauge(device.held_bytes, device.total_bytes) +
                                                  " of " + human_bytes(device.total_bytes)
                                            : "",
                     device.name.empty() ? "" : ", " + terminal_safe(device.name)));
    if (device.pooled && device.reserved_bytes > 0)
        add_pool(device);
}

void LiveLines::add_pool(const LiveDevice& device)
{
    const std::string waiting =
        device.pending_bytes == 0
            ? ""
            : fmt::format(" ({} not safe to reuse yet)", human_bytes(device.pending_bytes));
    line(fmt::format("  {:<9}{:>8} reserved: {} allocated, {} cached{}", "",
                     human_bytes(device.reserved_bytes), human_bytes(device.allocated_bytes),
                     human_bytes(device.reserved_bytes - device.allocated_bytes), waiting));
}

} // namespace vramscope::report
