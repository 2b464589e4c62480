// report/job/rank_process.hpp — whether processes that have one rank are that rank.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope::report {

struct RankProcess {
    std::string job; // empty: not known
    std::string host;
    std::uint32_t pid = 0;
    std::uint32_t parent_pid = 0;   // 0: not known
    std::uint64_t started_ns = 0;   // real time; 0: not known
    std::uint64_t last_seen_ns = 0; // the same
    bool replaced = false;          // by exec: it goes on with the same pid, in another log
};

// That of two processes with one rank none is another run of it.
bool are_one_rank(const RankProcess& one, const RankProcess& other);

} // namespace vramscope::report
