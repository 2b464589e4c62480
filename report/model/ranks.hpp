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
    std::optional<std::uint32_t> local_world_size; // ranks of its node
    std::string launcher;                          // "" if not known
    Verdict verdict = Verdict::inconclusive;
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
};
template <>
struct Fields<RankRow> {
    static constexpr const char* kName = "rank";
    static constexpr FieldList kAll{
        Field{"rank", &RankRow::rank},
        Field{"local_rank", &RankRow::local_rank},
        Field{"world_size", &RankRow::world_size},
        Field{"local_world_size", &RankRow::local_world_size, "Ranks of its node."}.since(6),
        Field{"launcher", OrNull{&RankRow::launcher}},
        Field{"process", &RankRow::process, "Index into processes."},
        Field{"verdict", &RankRow::verdict},
        Field{"peak_device_bytes", &RankRow::peak_device_bytes},
        Field{"leaked_bytes", &RankRow::leaked_bytes},
        Field{"leaked_blocks", &RankRow::leaked_blocks},
    };
};

// One call stack over all processes.
struct SharedLeak {
    std::vector<std::size_t> leaks;     // indexes into Report::leaks, by row
    std::vector<std::size_t> rows;      // indexes into Ranks::rows, ascending
    std::vector<std::size_t> processes; // indexes into Report::processes, in the order of `rows`
    bool on_all = false;                // in every row
    std::uint64_t bytes = 0;            // in all processes
    std::uint64_t blocks = 0;
    std::uint64_t least_bytes = 0; // in the process that has the least of it
    std::uint64_t most_bytes = 0;
    double growth = 0;          // bytes per second, where it is fastest
    std::uint64_t first_ns = 0; // of the earliest, each by its own log's clock
};
template <>
struct Fields<SharedLeak> {
    static constexpr const char* kName = "shared_leak";
    static constexpr FieldList kAll{
        Field{"leaks", &SharedLeak::leaks, "Indexes into leaks."},
        Field{"processes", &SharedLeak::processes, "Indexes into processes, in the order of rows."},
        Field{"on_all", &SharedLeak::on_all},
        Field{"bytes", &SharedLeak::bytes},
        Field{"blocks", &SharedLeak::blocks},
        Field{"least_bytes", &SharedLeak::least_bytes, "Of a process that has it."},
        Field{"most_bytes", &SharedLeak::most_bytes},
    };
};

struct Ranks {
    std::vector<RankRow> rows;          // by rank; then those without one, in the order of the logs
    std::vector<SharedLeak> leaks;      // largest first
    std::vector<std::uint32_t> missing; // ranks of the job that no log is of; see compare_ranks()
};
template <>
struct Fields<Ranks> {
    static constexpr const char* kName = "ranks";
    static constexpr const char* kSays = "The processes side by side.";
    static constexpr FieldList kAll{
        Field{"rows", &Ranks::rows, "One for each process: by rank; then those without one."},
        Field{"leaks", &Ranks::leaks,
              "One for each call stack, over all processes and devices; largest first."},
        Field{"missing", &Ranks::missing,
              "Ranks that no log is of: of all that world_size speaks of, or of the one node that "
              "all "
              "logs are of, where its ranks are known."},
    };
};

} // namespace vramscope::report
