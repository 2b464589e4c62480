// report/reach/living_blocks.hpp — the blocks that are alive in a log; what the driver gave out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "report/checkpoint/log_replay.hpp"
#include "report/log/log_file.hpp"
#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

class LivingBlocks {
public:
    // `until_ticks`: see LogReader::hold_back(). `checkpoints`: see begin_replay().
    LivingBlocks(const LogFile& log, std::uint64_t until_ticks, CheckpointStore* checkpoints);

    const std::vector<Block>& blocks() const { return blocks_; } // by address
    // Where blocks begin that the driver gave out, a sorted list for each kind of memory: those of
    // the internal pool lie in its segments.
    const std::vector<std::vector<Address>>& given() const { return given_; }
    const LogTables& tables() const { return log_->reading.tables(); }
    const Sites& sites() const { return log_->replays.heap.sites(); }

private:
    void find_given();

    std::unique_ptr<LogReplay> log_;
    std::vector<Block> blocks_;
    std::vector<std::vector<Address>> given_;
};

} // namespace vramscope::report
