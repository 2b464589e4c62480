// report/findings/live.hpp — what a running program holds, looked at again and again.
//
// Keeps its place in the log and the replay of all before it. read() applies what was published up
// to a moment, or a part of it; state() sums up what is alive, which costs a walk over the live
// blocks. Throws Error (bad_input) for what is no readable log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/model/live.hpp"
#include "report/symbols/symbolizer.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

class LiveReport {
public:
    // `checkpoints`: where the reading may begin, and leaves for the next one what it knows; may be
    // null, and outlives this.
    explicit LiveReport(const std::filesystem::path& log, SymbolizerOptions symbols = {},
                        CheckpointStore* checkpoints = nullptr);
    ~LiveReport();

    format::Clock clock() const noexcept; // read() takes the ticks of this clock

    // `ticks`: a moment before this call; UINT64_MAX once the program has ended. Where `enough`
    // says so, which is asked every some milliseconds, the rest is left for the next time.
    void read(std::uint64_t ticks, const std::function<bool()>& enough = {});
    LiveState state(std::size_t most_stacks);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace vramscope::report
