// report/rules/owners.hpp — which owner has a block, and what each owner has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "report/model/by_owner.hpp"
#include "report/rules/call_facts.hpp"

namespace vramscope::report {

// The first owner of which a condition holds, else kOtherOwner.
std::string_view owner_of(const std::vector<Owner>& owners, CallFacts& facts,
                          const BlockCall& call);

// Rows of one process, by device and then as the owners are named. `at_peak`: of each site, what it
// had when the most was allocated on its device. `stacks` gives all frames.
std::vector<OwnerSums> sum_up_owners(const std::vector<Owner>& owners, const Sites& sites,
                                     const std::vector<std::uint64_t>& at_peak, StackReader& stacks,
                                     std::size_t process);

} // namespace vramscope::report
