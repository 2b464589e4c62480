// report/reach/make_reach.hpp — lost or held: the blocks of a log in the memory of its process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/checkpoint/checkpoint_store.hpp"
#include "report/log/log_file.hpp"
#include "report/model/reach.hpp"
#include "report/reach/holder_steps.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/replay/heap/sites.hpp"
#include "report/replay/searches.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

class LivingBlocks;
class Verdicts;
struct BlockVerdict;
struct WantedBlock;

// What a search found, with what names its call stacks: no more of the process is needed.
class FoundReach {
public:
    // `log_mapping`: the log's name in the process's own mappings. `until_ticks`: see
    // LogReader::hold_back(). `checkpoints`: see begin_replay(); may be null.
    FoundReach(const LogFile& log, const ProcessMemory& memory, const std::string& log_mapping,
               std::uint64_t until_ticks, CheckpointStore* checkpoints);
    FoundReach(FoundReach&&) noexcept;
    ~FoundReach();

    // The rows, by what the program's user reads.
    Reach rows(const SymbolizerOptions& symbols, bool all_frames) const;

    // The same for the log, by what the log knows.
    format::Searched searched() const;
    std::vector<format::Reached> reached() const;
    // What a log that has these says; `ticks`: when the search began.
    Searches as_of_a_log(std::uint64_t ticks) const;

private:
    struct Holders {
        Reached verdict;
        ReachDoubt doubt;
        std::string chain; // without how often each step comes
        bool operator<(const Holders& other) const
        {
            return std::tie(verdict, doubt, chain) <
                   std::tie(other.verdict, other.doubt, other.chain);
        }
    };

    struct Held {
        ReachSum sum;
        HolderSteps steps;
        std::string shown; // the steps as one text, once all blocks are in

        void add(const ReachSum& more, const HolderSteps& others)
        {
            if (sum.blocks == 0)
                steps = others;
            widen(steps, others);
            sum.add(more);
        }
    };

    void add_all(const std::vector<WantedBlock>& wanted, Verdicts& verdicts);
    void add(const Block& block, const BlockVerdict& verdict);

    std::unique_ptr<LivingBlocks> living_;
    Reach found_; // without its rows
    std::string doubts_;
    // By site and device, as a site of frees may have blocks of several.
    std::map<std::pair<SiteId, std::int32_t>, std::map<Holders, Held>> by_site_;
};

} // namespace vramscope::report
