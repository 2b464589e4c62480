// tools/commands/top.cpp — what running programs hold, and how fast that changes.
//
// It also shows where the memory comes from.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "report/error.hpp"
#include "report/text/live.hpp"
#include "report/text/live_screen.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/top_keys.hpp"
#include "tools/commands/top_program.hpp"
#include "tools/options/symbol_options.hpp"
#include "tools/options/usage.hpp"
#include "tools/output/desktop.hpp"
#include "tools/output/messages.hpp"
#include "tools/output/results.hpp"
#include "tools/output/screen.hpp"
#include "tools/process/live/checkpoint_cache.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {
namespace {

constexpr const char* kTopFooter =
    R"(Follows the logs that programs are writing, and reads what is new in them; the programs are neither stopped nor
signalled. Ends when you press q or Ctrl-C, or when the programs have ended, and leaves the last look on the screen.
Arrows choose a program and a call stack, Enter opens the stack, s sorts, / finds, ? lists all keys. A long log takes
some seconds to read: until then the screen says how far it is. Where stdout is no terminal, one look is printed below
the other.

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

constexpr std::size_t kMostStacks = 200; // for each program, however high the screen is
constexpr std::size_t kStacksWithoutScreen = 10;
// A long log is read in such turns: in each of them the screen shows how far, and keys are taken.
constexpr std::chrono::milliseconds kTurn(300);

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

    // What is new since the last time; or, where `enough` says so, a part of it. Programs that
    // ended were shown once more.
    void look(std::size_t most_stacks, const std::function<bool()>& enough = {})
    {
        std::erase_if(followed_, [this](const auto& each) {
            return each->ended() && each->all_read() && followed_.size() > 1;
        });
        if (!options_.pid)
            look_for_others();
        programs_.clear();
        for (const auto& each : followed_) {
            each->look(most_stacks, enough);
            programs_.push_back(each->program());
        }
    }

    bool all_ended() const
    {
        return all_read() && std::all_of(followed_.begin(), followed_.end(),
                                         [](const auto& each) { return each->ended(); });
    }

    bool all_read() const
    {
        return std::all_of(followed_.begin(), followed_.end(),
                           [](const auto& each) { return each->all_read(); });
    }

    // As of the last look; none before the first.
    const std::vector<report::LiveProgram>& programs() const noexcept { return programs_; }

private:
    void add(const LiveProcess& process)
    {
        followed_.push_back(std::make_unique<TopProgram>(process, symbols_, checkpoints_));
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
    CheckpointCache checkpoints_;
    std::vector<std::unique_ptr<TopProgram>> followed_;
    std::vector<report::LiveProgram> programs_;
};

void print(const Top& top)
{
    const report::TextStyle style = style_for(STDOUT_FILENO);
    for (const std::string& line :
         live_lines(top.programs(), {style.color, style.width, kStacksWithoutScreen}))
        std::cout << line << '\n';
    finish_stdout();
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

// Draws what was seen last until it is time for the next look. False: its reader is done.
bool show(Screen& screen, const Top& top, report::LiveView& view, double seconds,
          Clock::time_point next)
{
    for (;;) {
        screen.draw(live_screen(top.programs(), view, {screen.width(), screen.height()},
                                wants_color(STDOUT_FILENO), seconds));
        const Screen::Event event =
            screen.wait(std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()));
        if (event == Screen::Event::quit ||
            (event == Screen::Event::key && !take_key(screen.take_key(), top.programs(), view)))
            return false;
        if (event == Screen::Event::time)
            return true;
    }
}

void draw_frames(Top& top, const TopOptions& options, std::chrono::milliseconds interval)
{
    Screen screen;
    report::LiveView view;
    for (std::uint64_t frame = 1;; frame += top.all_read()) {
        const Clock::time_point begin = Clock::now();
        top.look(kMostStacks, [&] { return Clock::now() - begin > kTurn; });
        const bool last = top.all_read() && (frame == options.count || top.all_ended());
        const Clock::time_point next = last || !top.all_read() ? begin : begin + interval;
        if (!show(screen, top, view, options.interval, next) || last)
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
    take_only_positive(command.add_option(
        "PID", options->pid, "a process that runs under vramscope; else all of yours"));
    command.add_option("--interval", options->interval, "seconds from one look to the next; 1")
        ->option_text("S");
    take_only_positive(
        command.add_option("--count", options->count, "end after so many looks")->option_text("N"));
    command.add_flag("--once", options->once, "one look, as plain text");
    add_symbol_options(command, options->symbols);
    add_fold_option(command, options->symbols);
}

} // namespace vramscope
