// report/job/headroom.hpp — what is left of the devices of a process, and how fast it grows there.
#pragma once

#include <optional>
#include <vector>

#include "report/job/reduced_table.hpp"
#include "report/model/job.hpp"

namespace vramscope::report {

// Of each device whose size is known. The number of the rank is not.
std::vector<JobHeadroom> headroom_of(const ReducedProcess& process);

// The one where the least is left in bytes; nullptr: there is none.
const JobHeadroom* fullest(const std::vector<JobHeadroom>& devices);

// The one that is full first at the rate that it grows by; nothing where nothing is proven to grow,
// or where one grows and how fast is not known.
std::optional<JobHeadroom> first_to_run_out(const std::vector<JobHeadroom>& all);

// Those with the least part of their device left, the least first.
std::vector<JobHeadroom> least_headroom(std::vector<JobHeadroom> all);

} // namespace vramscope::report
