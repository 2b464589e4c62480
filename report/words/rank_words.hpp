// report/words/rank_words.hpp — which ranks of a job, in few words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report {

struct Job;
struct JobFinding;
struct Report;

// "417", "0-15", "7-999:8, 3, 5"; no more than a few pieces. The numbers ascend.
std::string number_ranges(const std::vector<std::uint32_t>& numbers);

// "all 4 ranks", "125 of 1,000 ranks (7-999:8)", "all but rank 120", "rank 0" where that is all.
// `all` are the numbers of all of them; they ascend too. `ranked`: else they are processes.
std::string part_of_job(const std::vector<std::uint32_t>& numbers,
                        const std::vector<std::uint32_t>& all, bool ranked);
std::string part_of_job(const Job& job, const std::vector<std::uint32_t>& numbers);
// The same of a report's processes (indexes), by their ranks where each process has one.
std::string part_of_job(const Report& report, const std::vector<std::size_t>& processes);

// "leaked 4.7 MiB on average, grows by 96 KiB per step".
std::string values_of(const JobFinding& finding);

// "rank 733, which grows by 467 KiB per second: its 1.2 GiB of headroom last about 45 min"; where
// Job::runs_out_first is known.
std::string run_out_words(const Job& job);

} // namespace vramscope::report
