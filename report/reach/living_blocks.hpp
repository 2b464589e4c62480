// report/reach/living_blocks.hpp — the blocks that are alive in a log; what the driver gave out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/log/log_file.hpp"
#include "report/log/log_tables.hpp"
#include "report/reach/block_names.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

struct LogReplay;

// Where blocks of one kind begin that one allocator gave out, sorted.
struct GivenBlocks {
    std::vector<Address> begins;
    bool by_driver = true; // else by an allocator of the program's
};

class LivingBlocks {
public:
    // `until_ticks`: see LogReader::hold_back(). `checkpoints`: see begin_replay().
    LivingBlocks(const LogFile& log, std::uint64_t until_ticks, CheckpointStore* checkpoints);
    ~LivingBlocks();

    const std::vector<Block>& blocks() const { return blocks_; }   // by address
    const std::vector<BlockName>& names() const { return names_; } // see names_of()
    // A list for each kind of memory: blocks of the internal pool lie in its segments. What an
    // allocator of the program's cuts, and what it gave out of that, have a list each.
    const std::vector<GivenBlocks>& given() const { return given_; }
    // What the driver named its own objects by, sorted: contexts, streams, arrays, and so on.
    const std::vector<Address>& handles() const { return handles_; }
    // Whether textures or surfaces are alive: by one of these the driver tells its array.
    bool has_views() const { return has_views_; }
    const LogTables& tables() const;
    const Sites& sites() const;

private:
    void find_given();
    void find_handles();

    std::unique_ptr<LogReplay> log_;
    std::vector<Block> blocks_;
    std::vector<BlockName> names_;
    std::vector<GivenBlocks> given_;
    std::vector<Address> handles_;
    bool has_views_ = false;
};

} // namespace vramscope::report
