// report/json/ranks.cpp — a row for each process, and which of them share a leak.
#include "report/json/ranks.hpp"

namespace vramscope::report {

Json ranks_json(const Report& report)
{
    const Ranks& ranks = report.ranks;
    Json rows = Json::array();
    for (const RankRow& row : ranks.rows) {
        const Process& process = report.processes[row.process];
        rows.push_back({{"rank", or_null(row.rank)},
                        {"local_rank", or_null(row.local_rank)},
                        {"world_size", or_null(row.world_size)},
                        {"launcher", or_null(row.launcher)},
                        {"process", row.process},
                        {"verdict", name(row.verdict)},
                        {"peak_device_bytes", process.totals.peak_device_bytes},
                        {"leaked_bytes", process.totals.leaked_bytes},
                        {"leaked_blocks", process.totals.leaked_blocks}});
    }
    Json leaks = Json::array();
    for (const SharedLeak& shared : ranks.leaks) {
        Json processes = Json::array();
        for (const std::size_t row : shared.rows)
            processes.push_back(ranks.rows[row].process);
        leaks.push_back({{"leaks", shared.leaks},
                         {"processes", processes},
                         {"on_all", shared.rows.size() == ranks.rows.size()},
                         {"bytes", shared.bytes},
                         {"blocks", shared.blocks},
                         {"least_bytes", shared.least_bytes},
                         {"most_bytes", shared.most_bytes}});
    }
    return {{"rows", rows}, {"leaks", leaks}, {"missing", ranks.missing}};
}

} // namespace vramscope::report
