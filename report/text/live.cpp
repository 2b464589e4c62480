// report/text/live.cpp — sums, rates, devices and the stacks that hold the most.
#include "report/text/live.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/lines.hpp"
#include "report/words/row_words.hpp"
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

class Screen {
public:
    explicit Screen(const LiveStyle& style)
        : style_(style), width_(std::max(style.width, kLeastScreenWidth))
    {
    }

    void add(const LiveProgram& program)
    {
        const LiveState& state = program.state;
        bold(fmt::format("{} (process {}){}, {} {}", terminal_safe(state.program), state.pid,
                         program.ended ? " has ended" : "", program.ended ? "after" : "up",
                         age(state.age_ns)));
        line(fmt::format("  holds  {:>10} in {}{}", human_bytes(state.device_bytes),
                         counted(state.device_blocks, "block"),
                         host_part(state.host_bytes, state.host_blocks)));
        line(fmt::format("  peak   {:>10} requested{}", human_bytes(state.peak_device_bytes),
                         state.peak_host_bytes > 0 ? ", host " + human_bytes(state.peak_host_bytes)
                                                   : ""));
        line(fmt::format("  rate   {:>10} events/s, {} allocations/s, {} frees/s",
                         rate(program.rates.events), rate(program.rates.allocations),
                         rate(program.rates.frees)));
        for (const LiveDevice& device : state.devices)
            add(device);
        for (const Headline& finding : state.findings)
            line(fmt::format("  {}{}", capitals(finding.title), finding.rest));
        if (state.lost_events > 0)
            line(fmt::format("  {} not recorded: what is held may be more or less",
                             counted(state.lost_events, "event")));
    }

    // At most `most` rows of call stacks, and one that says how many more there are.
    void add_stacks(const LiveState& state, std::size_t most)
    {
        const std::size_t shown = std::min(most, state.stacks.size());
        std::vector<ShownRow> rows;
        for (const Leak& stack : state.stacks)
            rows.push_back({&stack, stack.device});
        const Report none; // of whose processes there is one
        const RowHeadlines places(rows, none);
        if (shown > 0)
            line(fmt::format("  {:>10} {:>9}  allocated by", "bytes", "blocks"));
        for (std::size_t at = 0; at < shown; ++at) {
            const Leak& stack = state.stacks[at];
            const std::string sums =
                fmt::format("  {:>10} {:>9}  ", human_bytes(stack.bytes), grouped(stack.blocks));
            const std::string api = terminal_safe(stack.api) + "  ";
            const std::size_t taken = columns(sums) + columns(api);
            const std::size_t room = width_ > taken + 20 ? width_ - taken : 20;
            line(sums + api + places.in(at, room));
        }
        const std::size_t more = state.more_stacks + state.stacks.size() - shown;
        if (more > 0)
            line(fmt::format("  ... and {}", counted(more, "more call stack")));
    }

    void line(std::string_view text) { lines_.push_back(clipped(text, width_)); }
    void bold(std::string_view text)
    {
        line(text);
        if (style_.color)
            lines_.back() = "\x1b[1m" + lines_.back() + "\x1b[0m";
    }
    std::size_t size() const noexcept { return lines_.size(); }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    void add(const LiveDevice& device)
    {
        const std::string name =
            device.ordinal < 0 ? "device ?" : fmt::format("device {}", device.ordinal);
        line(fmt::format("  {:<9}{:>8} in {}{}{}", name, human_bytes(device.held_bytes),
                         counted(device.blocks, "block"),
                         device.total_bytes > 0
                             ? " " + gauge(device.held_bytes, device.total_bytes) + " of " +
                                   human_bytes(device.total_bytes)
                             : "",
                         device.name.empty() ? "" : ", " + terminal_safe(device.name)));
        if (device.pooled && device.reserved_bytes > 0)
            add_pool(device);
    }

    void add_pool(const LiveDevice& device)
    {
        const std::string waiting =
            device.pending_bytes == 0
                ? ""
                : fmt::format(" ({} not safe to reuse yet)", human_bytes(device.pending_bytes));
        line(fmt::format("  {:<9}{:>8} reserved: {} allocated, {} cached{}", "",
                         human_bytes(device.reserved_bytes), human_bytes(device.allocated_bytes),
                         human_bytes(device.reserved_bytes - device.allocated_bytes), waiting));
    }

    static std::string host_part(std::uint64_t bytes, std::uint64_t blocks)
    {
        return blocks == 0
                   ? ""
                   : fmt::format(", host {} in {}", human_bytes(bytes), counted(blocks, "block"));
    }

    const LiveStyle& style_;
    std::size_t width_;
    std::vector<std::string> lines_;
};

} // namespace

// One row for each, where not even their heads find room.
std::vector<std::string> table_of(const std::vector<LiveProgram>& programs, const LiveStyle& style)
{
    Screen screen(style);
    screen.bold(fmt::format("{:>10} {:>9} {:>14} {:>10}  {}", "holds", "blocks", "peak requested",
                            "events/s", "program"));
    for (const LiveProgram& program : programs) {
        const LiveState& state = program.state;
        screen.line(fmt::format("{:>10} {:>9} {:>14} {:>10}  {} (process {}){}",
                                human_bytes(state.device_bytes), grouped(state.device_blocks),
                                human_bytes(state.peak_device_bytes), rate(program.rates.events),
                                terminal_safe(state.program), state.pid,
                                program.ended ? " has ended" : ""));
    }
    return screen.take();
}

// The heads of all programs are counted first; their stacks share what is left of the height.
std::vector<std::string> live_lines(const std::vector<LiveProgram>& programs,
                                    const LiveStyle& style)
{
    Screen heads(style);
    for (const LiveProgram& program : programs)
        heads.add(program);
    // A line between two programs, the header of the stacks, and the one of what is left out.
    constexpr std::size_t kRule = 3;
    const std::size_t fixed = heads.size() + kRule * programs.size();
    std::size_t most = SIZE_MAX;
    if (style.height > 0 && !programs.empty())
        most = style.height > fixed ? (style.height - fixed) / programs.size() : 0;
    Screen screen(style);
    for (const LiveProgram& program : programs) {
        if (screen.size() > 0)
            screen.line("");
        screen.add(program);
        screen.add_stacks(program.state, most);
    }
    const bool too_high = style.height > 0 && programs.size() > 1 && heads.size() > style.height;
    std::vector<std::string> lines = too_high ? table_of(programs, style) : screen.take();
    if (style.height > 0 && lines.size() > style.height)
        lines.resize(style.height);
    return lines;
}

} // namespace vramscope::report
