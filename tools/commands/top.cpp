// tools/commands/top.cpp — what running programs hold, and how fast that changes.
//
// It also shows where the memory comes from.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "report/error.hpp"
#include "report/findings/live.hpp"
#include "report/text/live.hpp"
#include "tools/commands/commands.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"
#include "tools/output/screen.hpp"
#include "tools/process/live/live_process.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {
namespace {

constexpr const char* kTopFooter =
    R"(Follows the logs that programs are writing, and reads what is new in them; the programs are neither stopped nor
signalled. Ends when you press q or Ctrl-C, or when the programs have ended, and leaves the last look on the screen.
Where stdout is no terminal, one look is printed below the other.

Ends 0; 110 if there is nothing to look at: no such process, not traced, no CUDA call yet, or not yours; 125 for wrong
usage.

Examples:
  vramscope top                                all programs of yours that run under vramscope
  vramscope top 4711 --interval 0.5
  vramscope top 4711 --sysroot /proc/4711/root a program in a container
  vramscope top --once                         one look, as plain text
  vramscope top 4711 --interval 60 --count 10 > growth.txt
)";

struct TopOptions {
    std::optional<pid_t> pid; // none: all of this user
    double interval = 1;      // seconds between two looks
    std::uint64_t count = 0;  // how many looks; 0 means until it is told to end
    bool once = false;
    SymbolOptions symbols;
};

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostStacks = 40; // for each program, however high the screen is
constexpr std::size_t kStacksWithoutScreen = 10;

// One program, followed from look to look.
class Followed {
public:
    Followed(const LiveProcess& process, const report::SymbolizerOptions& symbols)
        : process_(process), report_(process.door, symbols)
    {
    }

    const LiveProcess& process() const { return process_; }
    bool ended() const { return program_.ended; }
    const report::LiveProgram& program() const { return program_; }

    void look(std::size_t most_stacks)
    {
        program_.ended = !is_alive(process_);
        const std::uint64_t now = capture::read_ticks(report_.clock());
        report_.read(program_.ended ? UINT64_MAX : now);
        const report::LiveState before = std::move(program_.state);
        const Clock::time_point time = Clock::now();
        program_.state = report_.state(most_stacks);
        program_.state.pid = static_cast<std::uint32_t>(process_.pid);
        const bool first = looked_ == Clock::time_point{};
        const double seconds = first ? static_cast<double>(program_.state.age_ns) / 1e9
                                     : std::chrono::duration<double>(time - looked_).count();
        program_.rates = rates(first ? report::LiveState{} : before, program_.state, seconds);
        looked_ = time;
    }

private:
    static report::LiveRates rates(const report::LiveState& before, const report::LiveState& after,
                                   double seconds)
    {
        const auto per_second = [seconds](std::uint64_t from, std::uint64_t to) {
            return seconds > 0 ? static_cast<double>(to - from) / seconds : 0.0;
        };
        return {per_second(before.events, after.events),
                per_second(before.allocations, after.allocations),
                per_second(before.frees, after.frees)};
    }

    LiveProcess process_;
    report::LiveReport report_;
    report::LiveProgram program_;
    Clock::time_point looked_;
};

class Top {
public:
    explicit Top(const TopOptions& options)
        : options_(options), symbols_(read_symbol_options(options.symbols))
    {
        if (options_.pid)
            add(find_live_process(*options_.pid));
        else
            look_for_others();
        if (followed_.empty())
            throw report::Error(report::Exit::nothing_observed,
                                "no program of yours runs under vramscope and has made a CUDA "
                                "call: start one with `vramscope run`");
    }

    // What is new since the last time. Programs that ended were shown once more.
    void look(std::size_t most_stacks)
    {
        std::erase_if(followed_,
                      [this](const auto& each) { return each->ended() && followed_.size() > 1; });
        if (!options_.pid)
            look_for_others();
        for (const auto& each : followed_)
            each->look(most_stacks);
    }

    bool all_ended() const
    {
        return std::all_of(followed_.begin(), followed_.end(),
                           [](const auto& each) { return each->ended(); });
    }

    std::vector<std::string> lines(const report::LiveStyle& style) const
    {
        std::vector<report::LiveProgram> programs;
        for (const auto& each : followed_)
            programs.push_back(each->program());
        return live_lines(programs, style);
    }

private:
    void add(const LiveProcess& process)
    {
        followed_.push_back(std::make_unique<Followed>(process, symbols_));
    }

    void look_for_others()
    {
        for (const LiveProcess& found : find_live_processes()) {
            const bool known =
                std::any_of(followed_.begin(), followed_.end(), [&](const auto& each) {
                    return each->process().pid == found.pid && each->process().start == found.start;
                });
            try {
                if (!known)
                    add(found);
            } catch (const report::Error&) {
                // it has ended meanwhile
            }
        }
    }

    const TopOptions& options_;
    const report::SymbolizerOptions symbols_;
    std::vector<std::unique_ptr<Followed>> followed_;
};

void print(const Top& top)
{
    const report::TextStyle style = style_for(STDOUT_FILENO);
    for (const std::string& line : top.lines({style.color, style.width, 0}))
        std::cout << line << '\n';
    if (!std::cout.flush())
        throw report::Error(report::Exit::usage, "cannot write to stdout");
}

// One frame below the other: for files, pipes, and terminals that cannot be drawn on.
void print_frames(Top& top, const TopOptions& options, std::chrono::milliseconds interval)
{
    for (std::uint64_t frame = 1;; ++frame) {
        top.look(kStacksWithoutScreen);
        print(top);
        if (frame == options.count || top.all_ended())
            return;
        std::cout << '\n';
        std::this_thread::sleep_for(interval);
    }
}

void draw_frames(Top& top, const TopOptions& options, std::chrono::milliseconds interval)
{
    Screen screen;
    for (std::uint64_t frame = 1;; ++frame) {
        top.look(kMostStacks);
        Screen::Event event;
        const auto next = Clock::now() + interval;
        do {
            const std::size_t height = screen.height();
            std::vector<std::string> lines = top.lines(
                {wants_color(STDOUT_FILENO), screen.width(), height > 2 ? height - 2 : 1});
            lines.resize(height > 1 ? height - 1 : 1);
            if (height > 1)
                lines.push_back(fmt::format("every {} s; q quits", options.interval));
            screen.draw(lines);
            if (frame == options.count || top.all_ended())
                return;
            event = screen.wait(
                std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()));
        } while (event == Screen::Event::resize);
        if (event == Screen::Event::quit)
            return;
    }
}

int watch(const TopOptions& options)
{
    if (!(options.interval >= 0.1 && options.interval <= 3600))
        throw report::Error(report::Exit::usage, "--interval is 0.1 to 3600 seconds");
    const std::chrono::milliseconds interval(static_cast<std::int64_t>(options.interval * 1000));
    Top top(options);
    const bool drawn = !options.once && ::isatty(STDIN_FILENO) && can_draw(STDOUT_FILENO);
    if (drawn) {
        draw_frames(top, options, interval);
        print(top); // what was seen last stays
    } else {
        TopOptions plain = options;
        if (options.once)
            plain.count = 1;
        print_frames(top, plain, interval);
    }
    return 0;
}

} // namespace

void add_top(CommandLine& line)
{
    const auto options = std::make_shared<TopOptions>();
    CLI::App& command =
        line.add("top", "watch what running programs hold", kTopFooter, watch, options);
    command.add_option("PID", options->pid,
                       "a process that runs under vramscope; else all of yours");
    command.add_option("--interval", options->interval, "seconds from one look to the next; 1")
        ->option_text("S");
    command.add_option("--count", options->count, "end after so many looks")->option_text("N");
    command.add_flag("--once", options->once, "one look, as plain text");
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
