// report/reach/living_blocks.hpp — the blocks that are alive in a log; what the driver gave out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/log/log_file.hpp"
#include "report/log/log_tables.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

struct LogReplay;

class LivingBlocks {
public:
    // `until_ticks`: see LogReader::hold_back(). `checkpoints`: see begin_replay().
    LivingBlocks(const LogFile& log, std::uint64_t until_ticks, CheckpointStore* checkpoints);
    ~LivingBlocks();

    const std::vector<Block>& blocks() const { return blocks_; } // by address
    // Where blocks begin that the driver gave out, a sorted list for each kind of memory: those of
    // the internal pool lie in its segments. What an allocator of the program's cuts, and what it
    // gave out of that, have a list each.
    const std::vector<std::vector<Address>>& given() const { return given_; }
    const LogTables& tables() const;
    const Sites& sites() const;

private:
    void find_given();

    std::unique_ptr<LogReplay> log_;
    std::vector<Block> blocks_;
    std::vector<std::vector<Address>> given_;
};

} // namespace vramscope::report
