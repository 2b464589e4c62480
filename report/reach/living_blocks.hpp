// report/reach/living_blocks.hpp — the blocks that are alive in a log; what the driver gave out.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "report/log/log_file.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "report/replay/reading/reading.hpp"

namespace vramscope::report {

class LivingBlocks {
public:
    // `until_ticks`: see LogReader::hold_back().
    LivingBlocks(const LogFile& log, std::uint64_t until_ticks);

    const std::vector<Block>& blocks() const { return blocks_; } // by address
    // Where blocks begin that the driver gave out, a sorted list for each kind of memory: those of
    // the internal pool lie in its segments.
    const std::vector<std::vector<Address>>& given() const { return given_; }
    const LogTables& tables() const { return reading_.tables(); }
    const HeapReplay& replay() const { return replay_; }

private:
    struct PoolSegment {
        std::uint64_t bytes;
        std::uint64_t context;
    };

    void note_segments(const Record& record);
    void find_given();

    Reading reading_;
    HeapReplay replay_;
    std::vector<Block> blocks_;
    std::map<Address, PoolSegment> segments_;
    std::vector<std::vector<Address>> given_;
};

} // namespace vramscope::report
