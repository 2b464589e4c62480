// report/text/live_screen.cpp — what finds room, and in which order.
#include "report/text/live_screen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/live_lines.hpp"
#include "report/text/output.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kRoomy = 40; // lines: here the chosen call stack is always open
constexpr std::size_t kWide = 100; // columns: here rows have entry points too

constexpr std::array<std::pair<LiveOrder, const char*>, 3> kOrders = {
    {{LiveOrder::bytes, "bytes"}, {LiveOrder::growth, "growth"}, {LiveOrder::rate, "rate"}}};

constexpr std::array<std::pair<const char*, const char*>, 8> kKeys = {{
    {"Up, Down", "choose a call stack"},
    {"Left, Right", "choose a program"},
    {"Enter", "open the chosen call stack, or close it"},
    {"s", "sort by bytes, by growth per step, or by the change per second"},
    {"/", "show call stacks that have a text in a name or a file; Enter ends it"},
    {"Escape", "show all call stacks again"},
    {"?", "these keys, or back"},
    {"q", "quit"},
}};

std::string lower(std::string_view text)
{
    std::string all(text);
    for (char& c : all)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return all;
}

bool matches(const Leak& stack, const std::string& wanted)
{
    const auto has = [&](const std::string& text) {
        return lower(text).find(wanted) != std::string::npos;
    };
    return has(terminal_safe(stack.api)) ||
           std::any_of(stack.stack.begin(), stack.stack.end(), [&](const Frame& frame) {
               return has(function_of(frame)) || has(place_of(frame));
           });
}

double change_of(const LiveProgram& program, std::size_t stack)
{
    return stack < program.changes.size() ? program.changes[stack].value_or(0) : 0;
}

// "+1.2 MiB", "-4 KiB"; nothing: it is not known, or nothing changed.
std::string change_words(const LiveProgram& program, std::size_t stack)
{
    const double change = change_of(program, stack);
    if (std::abs(change) < 1)
        return "";
    return (change < 0 ? "-" : "+") + human_bytes(static_cast<std::uint64_t>(std::abs(change)));
}

std::string growth_of(const Leak& stack)
{
    return stack.leak_class == LeakClass::growing ? rate_words(stack.rate) : "";
}

// The programs around the chosen one, of which there is room for `most`.
void add_programs(LiveLines& lines, const std::vector<LiveProgram>& programs, std::size_t chosen,
                  std::size_t most)
{
    const std::size_t shown = std::min(most, programs.size());
    const std::size_t first =
        std::min(chosen - std::min(chosen, shown / 2), programs.size() - shown);
    lines.add_table_head();
    for (std::size_t at = first; at < first + shown; ++at)
        lines.add_row(programs[at], at == chosen);
    lines.line("");
}

class StackTable {
public:
    StackTable(const LiveProgram& program, const std::vector<std::size_t>& shown)
        : program_(program), shown_(shown), places_(rows(program, shown), none_)
    {
        for (const std::size_t stack : shown)
            growth_columns_ =
                std::max(growth_columns_, columns(growth_of(program.state.stacks[stack])));
        if (growth_columns_ > 0)
            growth_columns_ = std::max<std::size_t>(growth_columns_, 6);
    }

    void add_head(LiveLines& lines) const
    {
        lines.bold(fmt::format(
            "  {:>10} {:>9} {:>11}  {}allocated by", "bytes", "blocks", "change/s",
            growth_columns_ > 0 ? fmt::format("{:<{}}  ", "growth", growth_columns_) : ""));
    }

    void add_row(LiveLines& lines, std::size_t row, bool chosen) const
    {
        const Leak& stack = program_.state.stacks[shown_[row]];
        std::string text = fmt::format("  {:>10} {:>9} {:>11}  ", human_bytes(stack.bytes),
                                       grouped(stack.blocks), change_words(program_, shown_[row]));
        if (growth_columns_ > 0) {
            const std::string growth = growth_of(stack);
            text += growth + std::string(growth_columns_ - columns(growth) + 2, ' ');
        }
        if (lines.width() >= kWide)
            text += terminal_safe(stack.api) + "  ";
        text += places_.in(row, lines.room_behind(text));
        if (chosen)
            lines.reversed(">" + text.substr(1));
        else
            lines.line(text);
    }

private:
    static std::vector<ShownRow> rows(const LiveProgram& program,
                                      const std::vector<std::size_t>& shown)
    {
        std::vector<ShownRow> rows;
        for (const std::size_t stack : shown)
            rows.push_back({&program.state.stacks[stack], program.state.stacks[stack].device});
        return rows;
    }

    const LiveProgram& program_;
    const std::vector<std::size_t>& shown_;
    const Report none_; // of whose processes there is one
    const RowHeadlines places_;
    std::size_t growth_columns_ = 0;
};

std::string growing_words(const Leak& stack, const LiveState& state)
{
    const std::string growth = growth_of(stack);
    return growth.empty() ? ""
                          : fmt::format(", growing by {} {}", growth,
                                        since_words(stack.rate, state.opened_real_ns));
}

std::vector<std::string> stack_lines(const Leak& stack, const LiveState& state, std::size_t width)
{
    std::ostringstream text;
    TextOutput out(text, {.color = false, .width = width});
    out.stream() << fmt::format("{} in {} by {}", human_bytes(stack.bytes),
                                counted(stack.blocks, "block"), terminal_safe(stack.api))
                 << growing_words(stack, state) << '\n';
    if (stack.stack.empty())
        out.stream() << "  (no call stack was recorded)\n";
    out.stack(stack);
    std::vector<std::string> lines;
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);)
        lines.push_back(std::move(line));
    return lines;
}

// The rows, so that the chosen one is among them, and its call stack below them.
void add_stacks(LiveLines& lines, const LiveProgram& program, const LiveView& view,
                std::size_t height)
{
    const std::vector<std::size_t> shown = shown_stacks(program, view);
    const std::size_t used = lines.size() + 2; // the head of the table, and what is left out
    if (used >= height)
        return;
    std::size_t room = height - used;
    const std::size_t chosen = chosen_stack(program, shown, view);
    std::vector<std::string> open;
    if (!shown.empty() && (view.stack_open || height >= kRoomy)) {
        open = stack_lines(program.state.stacks[shown[chosen]], program.state, lines.width());
        open.resize(std::min(open.size(), room > 2 ? (room - 1) / 2 : 0));
        room -= std::min(room, open.size() + 1);
    }
    const std::size_t most = std::min(room, shown.size());
    const std::size_t first = std::min(chosen - std::min(chosen, most / 2), shown.size() - most);
    const StackTable table(program, shown);
    table.add_head(lines);
    for (std::size_t row = first; row < first + most; ++row)
        table.add_row(lines, row, row == chosen);
    const std::size_t more = program.state.more_stacks + program.state.stacks.size() - most;
    lines.line(more > 0 ? fmt::format("  ... and {}", counted(more, "more call stack")) : "");
    if (!open.empty())
        lines.line("");
    for (const std::string& line : open)
        lines.line(line);
}

void add_keys(LiveLines& lines)
{
    lines.bold("Keys");
    for (const auto& [key, what] : kKeys)
        lines.line(fmt::format("  {:<12} {}", key, what));
}

std::string last_line(const LiveView& view, double seconds)
{
    if (view.typing)
        return "/" + terminal_safe(view.match) + "_";
    const auto order = std::find_if(kOrders.begin(), kOrders.end(),
                                    [&](const auto& one) { return one.first == view.order; });
    return fmt::format("q quits, ? lists the keys; every {} s, by {}{}", seconds, order->second,
                       view.match.empty() ? "" : ", with /" + terminal_safe(view.match));
}

} // namespace

std::string live_key(const Leak& stack)
{
    return fmt::format("{} {} {}", stack.key(), name(stack.memory), stack.device);
}

std::size_t chosen_program(const std::vector<LiveProgram>& programs, const LiveView& view)
{
    for (std::size_t at = 0; at < programs.size(); ++at)
        if (programs[at].state.pid == view.program)
            return at;
    return 0;
}

std::vector<std::size_t> shown_stacks(const LiveProgram& program, const LiveView& view)
{
    const std::vector<Leak>& stacks = program.state.stacks;
    std::vector<std::size_t> shown(stacks.size());
    std::iota(shown.begin(), shown.end(), 0);
    if (!view.match.empty())
        std::erase_if(shown, [&, wanted = lower(view.match)](std::size_t stack) {
            return !matches(stacks[stack], wanted);
        });
    const auto sort_by = [&shown](auto value) {
        std::stable_sort(shown.begin(), shown.end(),
                         [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
    };
    if (view.order == LiveOrder::rate)
        sort_by([&](std::size_t stack) { return change_of(program, stack); });
    else if (view.order == LiveOrder::growth)
        sort_by([&](std::size_t stack) {
            const Leak& leak = stacks[stack];
            return std::pair(leak.leak_class == LeakClass::growing, leak.rate.bytes_per_second);
        });
    return shown;
}

std::size_t chosen_stack(const LiveProgram& program, const std::vector<std::size_t>& shown,
                         const LiveView& view)
{
    for (std::size_t at = 0; at < shown.size(); ++at)
        if (live_key(program.state.stacks[shown[at]]) == view.stack)
            return at;
    return 0;
}

std::vector<std::string> live_screen(const std::vector<LiveProgram>& programs, const LiveView& view,
                                     LiveScreenSize size, bool color, double seconds)
{
    const LiveStyle style{.color = color, .width = size.width};
    const std::size_t height = size.height > 1 ? size.height - 1 : 1; // without the last line
    LiveLines lines(style);
    if (view.help) {
        add_keys(lines);
    } else {
        const std::size_t chosen = chosen_program(programs, view);
        if (programs.size() > 1)
            add_programs(lines, programs, chosen, std::max<std::size_t>(height / 4, 1));
        lines.add_head(programs[chosen]);
        add_stacks(lines, programs[chosen], view, height);
    }
    std::vector<std::string> all = lines.take();
    all.resize(height);
    LiveLines last(style);
    last.line(last_line(view, seconds));
    if (size.height > 1)
        all.push_back(last.take().front());
    return all;
}

} // namespace vramscope::report
