// report/model/ranks.hpp — the processes of one job side by side: which leaks what others do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/verdict.hpp"

namespace vramscope::report {

struct RankRow {
    std::size_t process = 0; // index into Report::processes
    std::optional<std::uint32_t> rank;
    std::optional<std::uint32_t> local_rank;
    std::optional<std::uint32_t> world_size;
    std::string launcher; // "" if not known
    Verdict verdict = Verdict::inconclusive;
};

// One call stack over all processes.
struct SharedLeak {
    std::vector<std::size_t> leaks; // indexes into Report::leaks, by row
    std::vector<std::size_t> rows;  // indexes into Ranks::rows, ascending
    std::uint64_t bytes = 0;        // in all processes
    std::uint64_t blocks = 0;
    std::uint64_t least_bytes = 0; // in the process that has the least of it
    std::uint64_t most_bytes = 0;
};

struct Ranks {
    std::vector<RankRow> rows;          // by rank; then those without one, in the order of the logs
    std::vector<SharedLeak> leaks;      // largest first
    std::vector<std::uint32_t> missing; // ranks that world_size speaks of, and no log is of
};

} // namespace vramscope::report
