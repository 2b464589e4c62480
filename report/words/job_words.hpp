// report/words/job_words.hpp — what is said of a whole job, in few words.
#pragma once

#include <string>

namespace vramscope::report {

struct Job;
struct JobHeadline;
struct JobOutsider;

// "Inconclusive", "Leaks", or what else was found, as a report begins with it; "Clean" above
// nothing that a report would tell.
std::string title_of(const Job& job);

// "1 failed, 2 with leaks, 997 clean": each process once.
std::string standings_of(const Job& job);

// "Out of memory: load() train.cu:9 wanted 1 TiB"; where ranks say different things,
// "Out of memory; rank 3, 2 times: ...".
std::string headline_words(const Job& job, const JobHeadline& headline);

// "process 4711 (launch.vsl) has no rank: Clean: nothing leaked; it exited with status 0".
std::string outsider_words(const JobOutsider& process);

} // namespace vramscope::report
