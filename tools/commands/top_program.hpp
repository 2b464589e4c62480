// tools/commands/top_program.hpp — one running program, followed from look to look.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/findings/live.hpp"
#include "report/text/live.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {

class TopProgram {
public:
    // `checkpoints` outlive it.
    TopProgram(const LiveProcess& process, const report::SymbolizerOptions& symbols,
               report::CheckpointStore& checkpoints);

    // What it holds now; or, where `enough` ended the reading (report::LiveReport::read), what it
    // held then.
    void look(std::size_t most_stacks, const std::function<bool()>& enough);

    const LiveProcess& process() const noexcept { return process_; }
    bool ended() const noexcept { return program_.ended; }
    bool all_read() const noexcept { return program_.state.fraction_read == 1; }
    const report::LiveProgram& program() const noexcept { return program_; }

private:
    using Clock = std::chrono::steady_clock;
    struct Look {
        Clock::time_point time;
        std::uint64_t events;
        std::uint64_t allocations;
        std::uint64_t frees;
        std::unordered_map<std::string, std::uint64_t> stacks; // bytes, by report::live_key()
        bool all_stacks;                                       // none was left out
    };

    void compare(const Look& before, const Look& now);
    Look note() const;

    LiveProcess process_;
    report::LiveReport report_;
    report::LiveProgram program_;
    std::optional<Look> before_; // of a state that was up to date
};

} // namespace vramscope
