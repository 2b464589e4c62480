// tools/commands/top_program.cpp — what changed since the look before.
#include "tools/commands/top_program.hpp"

#include <utility>

#include "report/text/live_screen.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope {

TopProgram::TopProgram(const LiveProcess& process, const report::SymbolizerOptions& symbols,
                       report::CheckpointStore& checkpoints)
    : process_(process), report_(process.door, symbols, &checkpoints)
{
}

void TopProgram::look(std::size_t most_stacks, const std::function<bool()>& enough)
{
    program_.ended = !is_alive(process_);
    const std::uint64_t now = capture::read_ticks(report_.clock());
    report_.read(program_.ended ? UINT64_MAX : now, enough);
    program_.state = report_.state(most_stacks);
    program_.state.pid = static_cast<std::uint32_t>(process_.pid);
    program_.changes.clear();
    if (!all_read())
        return;
    Look look = note();
    if (before_)
        compare(*before_, look);
    else // of the whole run
        compare({.time = look.time - std::chrono::nanoseconds(program_.state.age_ns),
                 .events = 0,
                 .allocations = 0,
                 .frees = 0,
                 .stacks = {},
                 .all_stacks = false},
                look);
    before_ = std::move(look);
}

TopProgram::Look TopProgram::note() const
{
    const report::LiveState& state = program_.state;
    Look look{.time = Clock::now(),
              .events = state.events,
              .allocations = state.allocations,
              .frees = state.frees,
              .stacks = {},
              .all_stacks = state.more_stacks == 0};
    for (const report::Leak& stack : state.stacks)
        look.stacks.emplace(report::live_key(stack), stack.bytes);
    return look;
}

void TopProgram::compare(const Look& before, const Look& now)
{
    const double seconds = std::chrono::duration<double>(now.time - before.time).count();
    const auto per_second = [seconds](std::uint64_t from, std::uint64_t to) {
        return seconds > 0 ? (static_cast<double>(to) - static_cast<double>(from)) / seconds : 0.0;
    };
    program_.rates = {per_second(before.events, now.events),
                      per_second(before.allocations, now.allocations),
                      per_second(before.frees, now.frees)};
    for (const report::Leak& stack : program_.state.stacks) {
        const auto found = before.stacks.find(report::live_key(stack));
        if (found != before.stacks.end())
            program_.changes.emplace_back(per_second(found->second, stack.bytes));
        else if (before.all_stacks) // it held nothing
            program_.changes.emplace_back(per_second(0, stack.bytes));
        else
            program_.changes.emplace_back(std::nullopt);
    }
}

} // namespace vramscope
